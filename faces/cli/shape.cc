// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/shape.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace commrig::cli {
namespace {

constexpr std::array<std::string_view, 3> kParts{"M", "K", "N"};

Error refuse(std::string_view text, const std::string& why) {
  return Error::make(
      Code::kBadArgument,
      fmt::format("--shape \"{}\": {}; expected MxKxN, for example 256x512x256", text, why));
}

}  // namespace

Result<operators::MatmulShape> parse_shape(std::string_view text) {
  std::array<std::size_t, 3> sides{};
  std::string_view rest = text;
  for (std::size_t i = 0; i < sides.size(); ++i) {
    const char* const end = rest.data() + rest.size();
    const auto [stop, error] = std::from_chars(rest.data(), end, sides[i]);
    if (error == std::errc::result_out_of_range)
      return refuse(text, fmt::format("{} is too large", kParts[i]));
    if (error != std::errc()) return refuse(text, fmt::format("{} is not a number", kParts[i]));
    if (sides[i] == 0) return refuse(text, fmt::format("{} is 0", kParts[i]));
    rest = std::string_view(stop, static_cast<std::size_t>(end - stop));
    const bool last = i + 1 == sides.size();
    if (last && !rest.empty()) return refuse(text, fmt::format("\"{}\" stands behind N", rest));
    if (!last && !rest.starts_with('x'))
      return refuse(text, fmt::format("no x behind {}", kParts[i]));
    if (!last) rest.remove_prefix(1);
  }
  return operators::MatmulShape{sides[0], sides[1], sides[2]};
}

}  // namespace commrig::cli
