// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace commrig {

// What went wrong, as a stable number. The enumerators are grouped by area; the printed id, the
// advice and the explanation of each stand in one table, codes.cc. A code is never renumbered and
// never reused; a new one goes to the end of its area.
enum class Code : std::uint16_t {
  // MEM: simulated device memory
  kUnknownPointer,
  kFreedPointer,
  kOutOfRange,
  kMisaligned,
  kOutOfMemory,
  kFreedTwice,
  kNotAllocationStart,
  kZeroSize,
  kBadDevice,
  kUnknownKey,
  kHostRange,
  // DTY: element types and reductions
  kUnknownDtype,
  kNoArithmetic,
  kUnknownReduceOp,
  // MC2: the workspace protocol
  kUnknownLayout,
  kWorkspaceTooSmall,
  kCheckWord,
  kUnknownCommand,
  kUnsupportedCommand,
  kBadDtypeCode,
  kBadOpCode,
  kNullBuffer,
  kShortBuffer,
  kGroupMismatch,
  kCommitAboveRepeat,
  kRankLeft,
  kRankThrew,
  kBadHandle,
  kSlotsExhausted,
  kHandlesExhausted,
  kClientState,
  kBadVersion,
  kRankCount,
  kBadContext,
  kNoFinalize,
  kSideMessage,
  kStalled,
  kBuffersOverlap,
  kZeroRepeat,
  kWaitAboveCommit,
  kStrideTooSmall,
  kSequenceNumber,
  kCountZero,
  kWrongSlot,
  kCounter,
  kRankMissing,
  // COL: collectives, their algorithms and plans
  kUnknownCollective,
  kCollectiveRanks,
  kCollectiveRoot,
  kCollectiveCounts,
  kCollectiveSize,
  kUnknownAlgorithm,
  kSelectionText,
  kNoAlgorithm,
  kPlanStep,
  kPlanBounds,
  kPlanAddress,
  kPlanUndefined,
  kPlanContents,
  kPlanRounding,
  kPlanRace,
  kPlanMessages,
  kPlanStuck,
  kCollectiveMismatch,
  kPeerLeft,
  kCollectiveBuffer,
  kBuffersMeet,
  kNoSuchPeer,
  kCommunicatorState,
  kSameDevice,
  kWaitCircle,
  kCallMissing,
  // NET: links between ranks
  kPeerLost,
  kMessageLength,
  kBadFrame,
  kPeerAddress,
  // BOOT: how ranks find each other
  kBadUniqueId,
  kIdUsed,
  kNoInterface,
  kLaunchEnvironment,
  kRankTwice,
  kSetupMismatch,
  kRankAbsent,
  kRankLost,
  kRootLost,
  kBadAddress,
  kConnection,
  // RT: what a program asks of an accelerator's runtime
  kDeviceCode,
  kNoSuchHandle,
  kNotYet,
  kInCallback,
  kHostMemory,
  kForked,
  kShareHandle,
  // RUN: running ranks, kernels and commands
  kKernelThrew,
  kAborted,
  kDeadline,
  kBadArgument,
  kSystemCall,
  kStreamFailed,
  kEventState,
  kWrongResult,
  kObjectUse,
  kUnfitProgram,
};

// How a caller may react, independent of the area. Faces translate by kind first.
enum class Kind : std::uint8_t {
  kInvalidArgument,  // the caller passed something wrong
  kProtocol,         // two participants disagree, or one broke the protocol
  kPeerLost,         // another rank ended or died
  kExhausted,        // a limit was reached
  kUnsupported,      // understood, named, and not done
  kState,            // right call at the wrong time
  kAborted,          // somebody else's error ended the wait
  kDeadline,         // a deadline fired
  kSystem,           // the operating system refused
};

struct CodeInfo {
  Code code;
  Kind kind;
  std::string_view id;           // "CR-MEM01"
  std::string_view title;        // what the id stands for, a few words
  std::string_view advice;       // one sentence: what to do
  std::string_view explanation;  // what `commrig explain ID` prints beyond title and advice
};

// The row of `code`. Thread-safe; the views live for ever.
const CodeInfo& code_info(Code code);

// Every row, in the order of the enumerators.
std::span<const CodeInfo> all_codes();

// The row whose id is `id` (case matters), or null.
const CodeInfo* find_code(std::string_view id);

}  // namespace commrig
