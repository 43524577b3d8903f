// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "mc2/layout.h"

// The context that a kernel of the 910B/A2 generation gets: where its workspace is, which rank it
// is, and where every rank's windows are. The vendor's name is HcclA2CombineOpParam.
namespace commrig::mc2 {

inline constexpr std::uint32_t kRanksMax = 256;
// As many windows have a place in the context itself; with more ranks they stand in records.
inline constexpr std::uint32_t kContextRanks = 32;
inline constexpr std::uint32_t kContextBytes = 8928;
// The older form without the fields behind `data`; the mock framework's tensor has 8912 bytes.
inline constexpr std::uint32_t kContextBytesMin = 8888;
inline constexpr std::uint64_t kWorkspaceAlignment = 512;
// What our groups give to each rank; the smallest that build_context takes.
inline constexpr std::uint64_t kWorkspaceBytesMin = 2ULL << 20;

// The context's fields in wire order.
std::span<const Field> context_fields();

// `address` rounded up as client and server do; the workspace base of all layouts. 0 when the
// rounding would pass the end of the address space.
std::uint64_t align_workspace(std::uint64_t address);

// Everything is a device address or a size in bytes. The spans have one entry a rank.
struct ContextSpec {
  std::uint64_t workspace = 0;
  std::uint64_t workspace_bytes = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t window_bytes = 0;
  std::span<const std::uint64_t> windows_in;
  std::span<const std::uint64_t> windows_out;
  // 0: windows come from the two arrays; else from the records at `data`, one a rank.
  std::uint8_t multi_flag = 0;
  std::uint64_t data = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t rma_info_bytes = 0;
  std::uint64_t rma_info = 0;
  std::uint64_t capability = 0;
  std::uint64_t capability_bytes = 0;
  // The word that our client rings to wake our server; 0 for none. It is not the vendor's: it lies,
  // behind a magic number, in 16 bytes of padding inside the area that is opaque to kernels, so a
  // client that doesn't know it never sees it, and a foreign context has none.
  std::uint64_t doorbell = 0;
};

// A context that was read. Values only; it doesn't refer to the bytes.
struct ContextView {
  std::uint64_t workspace = 0;  // as it stands in the context
  std::uint64_t base = 0;       // rounded up; offsets of a layout count from here
  std::uint64_t workspace_bytes = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t window_bytes = 0;
  // Of the first 32 ranks; they count where the multi flag is 0.
  std::array<std::uint64_t, kContextRanks> windows_in{};
  std::array<std::uint64_t, kContextRanks> windows_out{};
  std::uint8_t multi_flag = 0;
  std::uint64_t data = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t rma_info_bytes = 0;
  std::uint64_t rma_info = 0;
  std::uint64_t capability = 0;
  std::uint64_t capability_bytes = 0;
  std::uint64_t doorbell = 0;  // 0: none
};

// Writes the first kContextBytes of `out`. Fails with kRankCount outside 1..32 (1..256 with the
// multi flag), kWorkspaceTooSmall below 2 MiB, kBadContext for a null workspace, a rank or span
// that doesn't fit the number of ranks, or a short `out`.
Status build_context(const ContextSpec& spec, std::span<std::byte> out);

// Reads a context of any of the three lengths; fields beyond the end of `bytes` are 0. Fails as
// build_context does, but asks only that the workspace hold `layout` after rounding. The addresses
// are not followed.
Result<ContextView> read_context(std::span<const std::byte> bytes, const Layout& layout);

}  // namespace commrig::mc2
