// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/options.h"

#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

namespace commrig::cli {
namespace {

constexpr std::array<std::string_view, 3> kParts{"M", "K", "N"};

Error bad_shape(std::string_view text, std::string_view why) {
  return bad_option("--shape", text, fmt::format("MxKxN such as 256x512x256, but {}", why));
}

}  // namespace

Error bad_option(std::string_view option, std::string_view found, std::string_view expected) {
  return Error::make(Code::kBadArgument,
                     fmt::format("{} is \"{}\"; expected {}", option, found, expected));
}

Result<std::uint64_t> parse_number(std::string_view option, std::string_view text,
                                   std::uint64_t least, std::uint64_t most) {
  std::uint64_t number = 0;
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error == std::errc() && stop == end && number >= least && number <= most) return number;
  return bad_option(option, text, fmt::format("a number from {} to {}", least, most));
}

Result<operators::MatmulShape> parse_shape(std::string_view text) {
  std::array<std::size_t, 3> sides{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const std::string_view part = kParts[i];
    const char* const begin = rest.data();
    const char* const end = begin + rest.size();
    const auto [stop, error] = std::from_chars(begin, end, sides[i]);
    if (error == std::errc::result_out_of_range) {
      return bad_shape(text, fmt::format("{} is too large", part));
    }
    if (error != std::errc()) return bad_shape(text, fmt::format("{} is not a number", part));
    if (sides[i] == 0) return bad_shape(text, fmt::format("{} is 0", part));
    rest = std::string_view(stop, static_cast<std::size_t>(end - stop));
    const bool last = i + 1 == sides.size();
    if (last && !rest.empty()) {
      return bad_shape(text, fmt::format("\"{}\" stands behind N", rest));
    }
    if (!last && !rest.starts_with('x')) {
      return bad_shape(text, fmt::format("no x stands behind {}", part));
    }
    if (!last) rest.remove_prefix(1);
  }
  return operators::MatmulShape{sides[0], sides[1], sides[2]};
}

}  // namespace commrig::cli
