// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/context.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

// The public headers' offsets, checked by compiling them. The README of the mock framework counts
// without the padding behind multiFlag in its comments; its own structure has it.
constexpr Field kWorkspace{.name = "workSpace", .offset = 0, .width = 8};
constexpr Field kWorkspaceSize{.name = "workSpaceSize", .offset = 8, .width = 8};
constexpr Field kRank{.name = "rankId", .offset = 16, .width = 4};
constexpr Field kRanks{.name = "rankNum", .offset = 20, .width = 4};
constexpr Field kWindowSize{.name = "winSize", .offset = 24, .width = 8};
constexpr Field kWindowsIn{.name = "windowsIn", .offset = 32, .width = 8, .count = kContextRanks};
constexpr Field kWindowsOut{
    .name = "windowsOut", .offset = 288, .width = 8, .count = kContextRanks};
constexpr Field kRes{.name = "res", .offset = 544, .width = 1, .count = 8328};
constexpr Field kMultiFlag{.name = "multiFlag", .offset = 8872, .width = 1};
constexpr Field kData{.name = "data", .offset = 8880, .width = 8};
constexpr Field kDataSize{.name = "dataSize", .offset = 8888, .width = 8};
constexpr Field kRmaInfoSize{.name = "sizeOfAiRMAInfo", .offset = 8896, .width = 8};
constexpr Field kRmaInfo{.name = "aiRMAInfo", .offset = 8904, .width = 8};
constexpr Field kCapability{.name = "capability", .offset = 8912, .width = 8};
constexpr Field kCapabilitySize{.name = "capabilitySize", .offset = 8920, .width = 8};

constexpr std::array kFields{kWorkspace, kWorkspaceSize, kRank,    kRanks,      kWindowSize,
                             kWindowsIn, kWindowsOut,    kRes,     kMultiFlag,  kData,
                             kDataSize,  kRmaInfoSize,   kRmaInfo, kCapability, kCapabilitySize};
static_assert(kRes.end() == kMultiFlag.offset);
static_assert(kData.end() == kContextBytesMin);
static_assert(kCapabilitySize.end() == kContextBytes);

// Ours, in the host's padding at 8592..8607 inside `res`: a magic number ("commrig1" in memory) and
// the address of the doorbell word.
constexpr Field kDoorbellMagic{.name = "commrig magic", .offset = 8592, .width = 8};
constexpr Field kDoorbell{.name = "commrig doorbell", .offset = 8600, .width = 8};
constexpr std::uint64_t kMagic = 0x3167'6972'6D6D'6F63;
static_assert(kDoorbellMagic.offset >= kRes.offset && kDoorbell.end() <= 8608);

Error bad(const Field& field, const std::string& what) {
  return Error::make(Code::kBadContext, fmt::format("{} (at {:#x} of the context) {}", field.name,
                                                    field.offset, what));
}

// What must hold for any context, built or read.
Status check_ranks(std::uint32_t rank, std::uint32_t ranks, std::uint64_t multi_flag) {
  const std::uint32_t most = multi_flag != 0 ? kRanksMax : kContextRanks;
  if (ranks < 1 || ranks > most) {
    return Error::make(
        Code::kRankCount,
        fmt::format("{} (at {:#x} of the context) is {}, expected 1 to {} with {} {}", kRanks.name,
                    kRanks.offset, ranks, most, kMultiFlag.name, multi_flag));
  }
  if (rank >= ranks) return bad(kRank, fmt::format("is {} of {} ranks", rank, ranks));
  return ok();
}

// Gives the rounded base.
Result<std::uint64_t> check_workspace(std::uint64_t address, std::uint64_t size,
                                      std::uint64_t needed) {
  const std::uint64_t base = align_workspace(address);
  if (base == 0) return bad(kWorkspace, fmt::format("is {:#x}, no usable address", address));
  if (size > std::numeric_limits<std::uint64_t>::max() - address) {
    return bad(kWorkspaceSize, fmt::format("is {} and passes the end of the address space", size));
  }
  const std::uint64_t lost = base - address;
  if (size < lost || size - lost < needed) {
    return Error::make(Code::kWorkspaceTooSmall,
                       fmt::format("{} (at {:#x} of the context) is {}, less {} for alignment; "
                                   "expected at least {}",
                                   kWorkspaceSize.name, kWorkspaceSize.offset, size, lost, needed));
  }
  return base;
}

void store_windows(std::span<std::byte> bytes, const Field& field,
                   std::span<const std::uint64_t> windows) {
  for (std::uint32_t i = 0; i < windows.size(); ++i) store(bytes, field, windows[i], i);
}

std::uint64_t load_or_zero(std::span<const std::byte> bytes, const Field& field) {
  return field.end() <= bytes.size() ? load(bytes, field) : 0;
}

}  // namespace

std::span<const Field> context_fields() {
  return kFields;
}

std::uint64_t align_workspace(std::uint64_t address) {
  const std::uint64_t mask = kWorkspaceAlignment - 1;
  if (address > std::numeric_limits<std::uint64_t>::max() - mask) return 0;
  return (address + mask) & ~mask;
}

Status build_context(const ContextSpec& spec, std::span<std::byte> out) {
  COMMRIG_TRY(check_ranks(spec.rank, spec.ranks, spec.multi_flag));
  if (spec.workspace_bytes < kWorkspaceBytesMin) {
    return Error::make(Code::kWorkspaceTooSmall,
                       fmt::format("workspace of {} bytes for rank {}, expected at least {}",
                                   spec.workspace_bytes, spec.rank, kWorkspaceBytesMin));
  }
  // Rounding may cost up to 511 bytes; no layout comes near the rest.
  COMMRIG_TRY(check_workspace(spec.workspace, spec.workspace_bytes,
                              kWorkspaceBytesMin - kWorkspaceAlignment));
  if (spec.windows_in.size() != spec.ranks) {
    return bad(kWindowsIn,
               fmt::format("has {} entries, expected {}", spec.windows_in.size(), spec.ranks));
  }
  if (spec.windows_out.size() != spec.ranks) {
    return bad(kWindowsOut,
               fmt::format("has {} entries, expected {}", spec.windows_out.size(), spec.ranks));
  }
  if (out.size() < kContextBytes) {
    return Error::make(Code::kBadContext, fmt::format("{} bytes for a context, expected {}",
                                                      out.size(), kContextBytes));
  }
  const std::span<std::byte> bytes = out.first(kContextBytes);
  std::ranges::fill(bytes, std::byte{0});
  store(bytes, kWorkspace, spec.workspace);
  store(bytes, kWorkspaceSize, spec.workspace_bytes);
  store(bytes, kRank, spec.rank);
  store(bytes, kRanks, spec.ranks);
  store(bytes, kWindowSize, spec.window_bytes);
  const std::size_t direct = std::min(spec.ranks, kContextRanks);
  store_windows(bytes, kWindowsIn, spec.windows_in.first(direct));
  store_windows(bytes, kWindowsOut, spec.windows_out.first(direct));
  store(bytes, kMultiFlag, spec.multi_flag);
  store(bytes, kData, spec.data);
  store(bytes, kDataSize, spec.data_bytes);
  store(bytes, kRmaInfoSize, spec.rma_info_bytes);
  store(bytes, kRmaInfo, spec.rma_info);
  store(bytes, kCapability, spec.capability);
  store(bytes, kCapabilitySize, spec.capability_bytes);
  if (spec.doorbell != 0) {
    store(bytes, kDoorbellMagic, kMagic);
    store(bytes, kDoorbell, spec.doorbell);
  }
  return ok();
}

Result<ContextView> read_context(std::span<const std::byte> bytes, const Layout& layout) {
  if (bytes.size() < kContextBytesMin) {
    return Error::make(Code::kBadContext, fmt::format("context of {} bytes, expected at least {}",
                                                      bytes.size(), kContextBytesMin));
  }
  ContextView view;
  view.rank = static_cast<std::uint32_t>(load(bytes, kRank));
  view.ranks = static_cast<std::uint32_t>(load(bytes, kRanks));
  COMMRIG_TRY(check_ranks(view.rank, view.ranks, load(bytes, kMultiFlag)));
  view.workspace = load(bytes, kWorkspace);
  view.workspace_bytes = load(bytes, kWorkspaceSize);
  COMMRIG_ASSIGN(view.base, check_workspace(view.workspace, view.workspace_bytes, layout.end));
  view.window_bytes = load(bytes, kWindowSize);
  for (std::uint32_t i = 0; i < std::min(view.ranks, kContextRanks); ++i) {
    view.windows_in[i] = load(bytes, kWindowsIn, i);
    view.windows_out[i] = load(bytes, kWindowsOut, i);
  }
  view.multi_flag = static_cast<std::uint8_t>(load(bytes, kMultiFlag));
  view.data = load(bytes, kData);
  view.data_bytes = load_or_zero(bytes, kDataSize);
  view.rma_info_bytes = load_or_zero(bytes, kRmaInfoSize);
  view.rma_info = load_or_zero(bytes, kRmaInfo);
  view.capability = load_or_zero(bytes, kCapability);
  view.capability_bytes = load_or_zero(bytes, kCapabilitySize);
  if (load(bytes, kDoorbellMagic) == kMagic) view.doorbell = load(bytes, kDoorbell);
  return view;
}

}  // namespace commrig::mc2
