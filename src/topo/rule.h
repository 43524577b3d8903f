// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace commrig::topo {

// What can be wrong in a rank table. The printed id and all words stand in one table, rule.cc. A
// rule is never renumbered and never used again; a new one goes to the end.
enum class Rule : std::uint8_t {
  // the text
  kComment,
  kExtraComma,
  kMissingComma,
  kQuotes,
  kEllipsis,
  kMalformed,
  kDuplicateKey,
  kTextAfterEnd,
  // the file
  kFileName,
  kLink,
  kTooLong,
  kForeignFile,
  kNoTable,
  // any value
  kVersion,
  kVersionChip,
  kChipUnknown,
  kNotCompleted,
  kMissingKey,
  kWrongType,
  kEmptyList,
  kUnknownKey,
  kMisspeltKey,
  kCount,
  kTextLength,
  kElided,
  // names, addresses, numbers
  kServerTwice,
  kAddressTwice,
  kBackupTwice,
  kNameTwice,
  kNoAddress,
  kPlaceholder,
  kAddressMissing,
  kAddressCount,
  kSeveralAddresses,
  kFamilies,
  kHostFamilies,
  kHostNic,
  kLoopback,
  kSharedHost,
  kPort,
  kLowPort,
  kPortTwice,
  kDeviceId,
  kDeviceTwice,
  kDeviceSet,
  kUneven,
  kRankNumber,
  kRankTwice,
  kRankRange,
  kInterleaved,
  kOwnRank,
  kOwnDevice,
  // super pods
  kSuperDevice,
  kSuperDeviceTwice,
  kSuperDeviceMissing,
  kSuperDeviceOther,
  kSuperDeviceSmall,
  kSuperDeviceServer,
  kVirtualNic,
  kSuperPodId,
  kPodServerUnknown,
  kServerInTwoPods,
  kServerInNoPod,
  kPodsInterleaved,
  kBackup,
  kBackupPort,
  // the old template and 1.1
  kLabNic,
  kLabDevices,
  kMode,
  // 2.0
  kDraft,
  kLocalId,
  kReplacedId,
  kLayer,
  kNetType,
  kAddrType,
  kEid,
  kPorts,
  kListLimit,
  kInstanceCounts,
  kAddressShared,
  kTopologyPeer,
  kTopologyEdge,
  kTopologyRank,
  // later ones
  kDetour,
  kUndocumented,
};

enum class Severity : std::uint8_t { kNote, kWarning, kError };
std::string_view name(Severity severity);

struct RuleInfo {
  Rule rule;
  Severity severity;          // a finding may have another one
  std::string_view id;        // "CR-TAB01"
  std::string_view title;     // what is wrong, a few words
  std::string_view code;      // HCCL's: "EI0014", "log only", or "none" where HCCL sees nothing
  std::string_view reaction;  // what HCCL says or does; {found} and {variable} are put in
  std::string_view advice;    // what to do
  std::string_view explanation;
};

// The row of a rule. Thread-safe; the views live for ever.
const RuleInfo& info(Rule rule);
// Every row, in the order of the enumerators.
std::span<const RuleInfo> all_rules();
// The row whose id is `id` (case matters), or null.
const RuleInfo* find_rule(std::string_view id);

}  // namespace commrig::topo
