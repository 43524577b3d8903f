// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/fault_fixture_for_test.h"

// What can be wrong in a context, see docs/mc2-faults.md. The server never reads a context: our
// client finds it, its kernel ends with that, and the others learn which rank it was.
namespace commrig::mc2 {
namespace {

struct Patch {
  std::uint32_t offset;
  std::uint8_t width;
  std::uint64_t value;
};
using Patches = std::function<std::vector<Patch>(FaultRig&)>;

// The finding that says that the guilty rank's kernel failed with this.
std::function<Finding(FaultRig&)> failed(std::string detail) {
  return [=](FaultRig& rig) {
    return rig.word(Code::kRankThrew, 0, "sendMsgs.valid", "a message", "none", detail);
  };
}

RawKernel reads(std::function<const void*(RawRank&)> context) {
  return [context = std::move(context)](RawRank& rank) -> Status {
    Client client(rank.context, rank.layout);
    return client.init(context(rank));
  };
}

FaultRow patched(std::string name, Patches patches, std::string detail) {
  return {std::move(name),
          On::kBoth,
          reads([patches = std::move(patches)](RawRank& rank) -> const void* {
            const void* const address = rank.rig.group().context(kGuilty);
            const device::Window window = *rank.context.window(address, kContextBytes);
            for (const Patch& patch : patches(rank.rig)) {
              const Status put = rank.context.put(window, patch.offset, &patch.value, patch.width);
              EXPECT_TRUE(put.has_value());
            }
            return address;
          }),
          failed(std::move(detail)),
          operations(1),
          {},
          {kGuilty}};
}
FaultRow patched(std::string name, std::vector<Patch> patches, std::string detail) {
  return patched(
      std::move(name), [patches = std::move(patches)](FaultRig&) { return patches; },
      std::move(detail));
}

std::uint64_t number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

std::vector<FaultRow> rows() {
  static const std::uint64_t host[2] = {};
  const auto multi = [](std::uint64_t data, std::uint64_t bytes) {
    return std::vector<Patch>{{8872, 1, 1}, {8880, 8, data}, {8888, 8, bytes}};
  };
  return {
      patched("WorkspaceNull", {{0, 8, 0}}, "workSpace (at 0x0 of the context) is 0x0"),
      patched("WorkspaceTooSmall", {{8, 8, 4096}}, "workSpaceSize (at 0x8 of the context) is 4096"),
      patched(
          "WorkspaceTooSmallOnceAligned",
          [](FaultRig& rig) {
            return std::vector<Patch>{{0, 8, number(rig.group().workspace(kGuilty)) + 1},
                                      {8, 8, rig.layout().end + 510}};
          },
          "less 511 for alignment"),
      patched("WorkspaceBeyondItsAllocation", {{8, 8, 1ULL << 40U}}, "CR-MEM03"),
      patched("WorkspaceOnTheHost", {{0, 8, 4096}}, "CR-MEM01"),
      patched("RankBeyondRanks", {{16, 4, 3}}, "rankId (at 0x10 of the context) is 3 of 3 ranks"),
      patched("RankOfAnother", {{16, 4, 2}}, "is 2, but the kernel was launched for rank 1"),
      patched("NoRanks", {{20, 4, 0}}, "rankNum (at 0x14 of the context) is 0, expected 1 to 32"),
      patched("MoreRanksThanWindows", {{20, 4, 33}}, "is 33, expected 1 to 32"),
      patched("MoreRanksThanTables", {{20, 4, 257}, {8872, 1, 1}}, "is 257, expected 1 to 256"),
      patched("WindowInNull", {{32 + 2 * 8, 8, 0}}, "windowsIn[2] is 0"),
      patched("WindowOutNull", {{288, 8, 0}}, "windowsOut[0] is 0"),
      patched("RecordsNull", multi(0, 360), "data (at 0x22b0 of the context) is 0"),
      patched(
          "RecordsTooFew", [multi](FaultRig& rig) { return multi(number(rig.send[kGuilty]), 240); },
          "dataSize (at 0x22b8 of the context) is 240, expected at least 360 for 3 ranks"),
      patched(
          "RecordsBeyondTheirAllocation",
          [multi](FaultRig& rig) { return multi(number(rig.small), 360); }, "CR-MEM03"),
      {"ContextNull",
       On::kBoth,
       reads([](RawRank&) { return nullptr; }),
       failed("CR-MEM01"),
       operations(1),
       {},
       {kGuilty}},
      {"ContextOnTheHost",
       On::kBoth,
       reads([](RawRank&) { return &host; }),
       failed("CR-MEM01"),
       operations(1),
       {},
       {kGuilty}},
      {"ContextTooShort",
       On::kBoth,
       reads([](RawRank& rank) { return rank.rig.small; }),
       failed("CR-MEM03"),
       operations(1),
       {},
       {kGuilty}},
      {"WorkspaceOfAnotherRank", On::kBoth,
       [](RawRank& rank) { return RawRank(rank.rig, rank.context, 0).await(0, 1); },
       [](FaultRig&) {
         return Finding{.code = Code::kBadContext,
                        .rank = kGuilty,
                        .field = "workSpace",
                        .expected = "*",
                        .found = "*",
                        .detail = "waits in the workspace of rank 0"};
       }},
  };
}

class ContextFault : public FaultTest {};
TEST_P(ContextFault, IsNamed) {
  run();
}
INSTANTIATE_TEST_SUITE_P(Rows, ContextFault, testing::ValuesIn(fault_cases(rows())), fault_name);

}  // namespace
}  // namespace commrig::mc2
