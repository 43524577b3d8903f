// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "base/interfaces.h"

#include <ifaddrs.h>
#include <net/if.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

namespace commrig {

Result<std::vector<Interface>> list_interfaces() {
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) {
    return Error::make(Code::kSystemCall,
                       "getifaddrs: " + std::error_code(errno, std::generic_category()).message());
  }
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  std::vector<Interface> all;
  for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
    const Address address = Address::from(each->ifa_addr);
    const bool running = (each->ifa_flags & IFF_UP) != 0 && (each->ifa_flags & IFF_RUNNING) != 0;
    all.push_back(Interface{each->ifa_name, address, running});
  }
  // The system also lists the link itself; that entry says nothing where there is an address.
  std::erase_if(all, [copy = all](const Interface& entry) {
    return !entry.address.has_value() &&
           std::ranges::any_of(copy, [&entry](const Interface& other) {
             return other.name == entry.name && other.address.has_value();
           });
  });
  return all;
}

}  // namespace commrig
