// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "commrig/unique_id.h"

#include <fmt/format.h>

#include "api/objects.h"
#include "api/translate.h"

namespace commrig::v0 {

Result<UniqueId> make_unique_id(Runtime& runtime, const UniqueIdOptions& options) {
  const auto& owner = Internals::state(runtime);
  if (!owner) return moved_from("Runtime");
  const auto limit = options.ranks_within;
  if (limit.count() < 0) {
    return translate(commrig::Error::make(
        Code::kBadArgument,
        fmt::format("UniqueIdOptions::ranks_within is {} ms; expected at least 0", limit.count())));
  }
  return guarded([&]() -> Result<UniqueId> {
    const bool limited = limit.count() > 0 && limit < kForever;
    COMMRIG_API_ASSIGN(const bootstrap::UniqueId id,
                       owner->lobby.make_id({.ranks_within = limited ? Nanos(limit) : kForever}));
    return translate(id);
  });
}

Result<std::string> to_string(const UniqueId& id) {
  return guarded([&]() -> Result<std::string> {
    COMMRIG_API_ASSIGN(const bootstrap::UniqueId ours, translate(id));
    return ours.to_string();
  });
}

Result<UniqueId> parse_unique_id(std::string_view text) {
  return guarded([&]() -> Result<UniqueId> {
    COMMRIG_API_ASSIGN(const bootstrap::UniqueId ours, bootstrap::UniqueId::parse(text));
    return translate(ours);
  });
}

}  // namespace commrig::v0
