// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstdint>

namespace commrig {

// A seeded generator with the same sequence on every platform: xoshiro256** by Blackman and Vigna
// (https://prng.di.unimi.it), its state filled from the seed by splitmix64. Not thread-safe; give
// each thread its own.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  std::uint64_t next();
  // Uniform in [0, bound), without bias. `bound` must not be 0.
  std::uint64_t below(std::uint64_t bound);
  // Uniform in [low, high], high included.
  std::int64_t between(std::int64_t low, std::int64_t high);
  // Uniform in [0, 1), a multiple of 2^-53.
  double uniform();

 private:
  std::array<std::uint64_t, 4> state_;
};

// A number that nobody can foresee, from the operating system. For names and ids that must differ
// between processes; everything else takes a seeded Rng.
std::uint64_t unforeseeable();

// COMMRIG_SEED from the environment when it is a number, else `otherwise`. Random tests print what
// they got from here, so that a failure can be run again.
std::uint64_t seed_from_environment(std::uint64_t otherwise);

}  // namespace commrig
