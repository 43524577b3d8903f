// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/rng.h"

#include <sys/random.h>

#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include "base/check.h"

namespace commrig {
namespace {

std::uint64_t splitmix64(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
  return z ^ (z >> 31U);
}

}  // namespace

Rng::Rng(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Rng::next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Rng::below(std::uint64_t bound) {
  COMMRIG_CHECK(bound != 0, "below(0) has no value to return");
  // Values under the threshold would make the low results more likely; they are drawn again.
  const std::uint64_t threshold = (0 - bound) % bound;
  std::uint64_t value = next();
  while (value < threshold) value = next();
  return value % bound;
}

std::int64_t Rng::between(std::int64_t low, std::int64_t high) {
  COMMRIG_CHECK(low <= high, "between needs low <= high");
  const std::uint64_t width =
      static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
  const std::uint64_t step = width == 0 ? next() : below(width);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + step);
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

std::uint64_t unforeseeable() {
  std::uint64_t value = 0;
  ssize_t filled = 0;
  do {  // A few bytes come whole, once the system has any; a signal may end the wait for that.
    filled = ::getrandom(&value, sizeof(value), 0);
  } while (filled < 0 && errno == EINTR);
  COMMRIG_CHECK(filled == sizeof(value), "the system gives no random bytes");
  return value;
}

std::uint64_t seed_from_environment(std::uint64_t otherwise) {
  const char* text = std::getenv("COMMRIG_SEED");  // NOLINT(concurrency-mt-unsafe): nothing sets it
  if (text == nullptr) return otherwise;
  const std::string_view view(text);
  std::uint64_t seed = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), seed);
  return error == std::errc() && end == view.data() + view.size() ? seed : otherwise;
}

}  // namespace commrig
