// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "bootstrap/interface_choice.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>

#include <fmt/format.h>

namespace commrig::bootstrap {
namespace {

constexpr std::string_view kNameVariable = "NCCL_SOCKET_IFNAME";
constexpr std::string_view kFamilyVariable = "NCCL_SOCKET_FAMILY";

struct Pattern {
  bool given = false;
  bool exclude = false;
  bool whole = false;
  std::vector<std::string> names;
};

Pattern parse(std::string_view text) {
  Pattern pattern;
  if (text.size() < 2) return pattern;
  pattern.given = true;
  pattern.exclude = text.starts_with('^');
  if (pattern.exclude) text.remove_prefix(1);
  pattern.whole = text.starts_with('=');
  if (pattern.whole) text.remove_prefix(1);
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    // The libraries read the same lists for other devices, where a port may follow the name.
    const std::string_view name = text.substr(0, std::min(comma, text.find(':')));
    if (!name.empty()) pattern.names.emplace_back(name);
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return pattern;
}

bool listed(const Pattern& pattern, const std::string& name) {
  return std::ranges::any_of(pattern.names, [&](const std::string& each) {
    return pattern.whole ? name == each : name.starts_with(each);
  });
}

// Why the pattern leaves the interface out, or nothing.
std::optional<std::string> left_out(const Pattern& pattern, const std::string& text,
                                    const std::string& name) {
  if (!pattern.given) return std::nullopt;
  if (pattern.names.empty()) {
    if (!pattern.exclude) return std::nullopt;
    return fmt::format("\"{}\" excludes everything", text);
  }
  if (listed(pattern, name) != pattern.exclude) return std::nullopt;
  if (pattern.exclude) return fmt::format("excluded by \"{}\"", text);
  for (const std::string& each : pattern.names) {
    if (pattern.whole && name.starts_with(each)) {
      return fmt::format("\"{}\" asks for whole names, and this one only begins with {}", text,
                         each);
    }
  }
  return fmt::format("no name in \"{}\" {}", text, pattern.whole ? "is it" : "begins it");
}

// The order without a pattern; smaller is better.
int place(const std::string& name) {
  constexpr std::array<std::string_view, 3> kLate{"docker", "lo", "virbr"};
  if (name.starts_with("ib")) return 0;
  for (std::size_t i = 0; i < kLate.size(); ++i) {
    if (name.starts_with(kLate[i])) return static_cast<int>(i) + 2;
  }
  return 1;
}

const char* family_name(int family) {
  return family == AF_INET6 ? "IPv6" : "IPv4";
}

// The interface with the address that counts, or why it has none.
std::optional<std::string> best_address(std::span<const Interface> present, int family,
                                        Interface& candidate) {
  const Interface* best = nullptr;
  bool has_address = false;
  bool running = false;
  for (const Interface& each : present) {
    if (each.name != candidate.name) continue;
    running = running || each.running;
    if (!each.address.has_value()) continue;
    has_address = true;
    if (family != AF_UNSPEC && each.address.family() != family) continue;
    if (best == nullptr || (best->address.is_link_local() && !each.address.is_link_local())) {
      best = &each;
    }
  }
  if (!has_address) return "it has no IP address";
  if (!running) return "it is down, or has no carrier";
  if (best == nullptr) {
    return fmt::format("it has no {} address, which {} asks for", family_name(family),
                       kFamilyVariable);
  }
  candidate = *best;
  return std::nullopt;
}

Error none_fits(const InterfaceRule& rule, const std::vector<InterfaceChoice::Rejected>& rejected) {
  std::string text = rule.pattern.empty() ? "no network interface can be used"
                                          : fmt::format("{}=\"{}\" fits no network interface",
                                                        kNameVariable, rule.pattern);
  if (rejected.empty()) text += "; none is present";
  const char* separator = "; present: ";
  for (const auto& each : rejected) {
    text += fmt::format("{}{} ({})", separator, each.name, each.reason);
    separator = ", ";
  }
  return Error::make(Code::kNoInterface, text);
}

}  // namespace

Result<InterfaceRule> read_interface_rule(Environment environment) {
  InterfaceRule rule;
  rule.pattern = environment(kNameVariable).value_or("");
  const auto family = environment(kFamilyVariable);
  if (!family || family->empty()) return rule;
  if (*family != "AF_INET" && *family != "AF_INET6") {
    return Error::make(Code::kNoInterface, fmt::format("{}=\"{}\", expected AF_INET or AF_INET6",
                                                       kFamilyVariable, *family));
  }
  rule.family = *family == "AF_INET" ? AF_INET : AF_INET6;
  return rule;
}

Result<InterfaceChoice> choose_interface(std::span<const Interface> present,
                                         const InterfaceRule& rule) {
  const Pattern pattern = parse(rule.pattern);
  std::vector<InterfaceChoice::Rejected> rejected;
  std::vector<Interface> fitting;
  std::vector<std::string> seen;
  for (const Interface& each : present) {
    if (std::ranges::find(seen, each.name) != seen.end()) continue;
    seen.push_back(each.name);
    Interface candidate = each;
    auto reason = left_out(pattern, rule.pattern, each.name);
    if (!reason) reason = best_address(present, rule.family, candidate);
    if (reason) {
      rejected.push_back({each.name, *reason});
    } else {
      fitting.push_back(candidate);
    }
  }
  if (fitting.empty()) return none_fits(rule, rejected);
  if (!pattern.given) {
    // Equals stay in the system's order: one after the other moves in front of those that come
    // last.
    const auto place_of = [](const Interface& each) {
      return place(each.name) + (each.address.is_link_local() ? 8 : 0);
    };
    for (auto next = fitting.begin(); next != fitting.end(); ++next) {
      std::rotate(std::ranges::upper_bound(fitting.begin(), next, place_of(*next), {}, place_of),
                  next, std::next(next));
    }
  }
  for (std::size_t i = 1; i < fitting.size(); ++i) {
    rejected.push_back({fitting[i].name, fitting.front().name + " comes before it"});
  }
  return InterfaceChoice{fitting.front(), rejected};
}

}  // namespace commrig::bootstrap
