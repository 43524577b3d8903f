// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "dtype/dtype.h"
#include "dtype/reduce.h"

// The workspace protocol between a kernel and its communication server, as data. What lies where,
// which number means what, and how the two sides behave stand in one table of layouts; client,
// server, tools and tests read them from there. Sources of the facts: the public HCCL/AscendC
// headers (upstream-64) and the mock framework's README (readme-112).
namespace commrig::mc2 {

// What a message asks for, in neutral names; the numbers belong to a layout.
enum class Command : std::uint8_t {
  kInvalid,  // no command; no layout has a code for it
  kBroadcast,
  kAllReduce,
  kReduce,
  kSend,
  kReceive,
  kAllGather,
  kReduceScatter,
  kAllToAllV,
  kAllToAllVC,
  kAllToAll,
  kGather,
  kScatter,
  kBatchSendRecv,
  kBatchPut,
  kBatchGet,
  kAllGatherV,
  kReduceScatterV,
  kBatchWrite,
  kHalfAllToAllV,
  kFinalize,
  kGroupSync,
  kInit,
  kBarrier,
};

std::string_view name(Command command);   // "all-gather"
std::span<const Command> all_commands();  // in order, without kInvalid
bool is_reduction(Command command);       // needs a ReduceOp
bool is_control(Command command);         // moves no data: finalize, group sync, init, barrier

// Where one integer lies, or `count` of them in a row. Little endian.
struct Field {
  std::string_view name;  // the vendor's spelling
  std::uint32_t offset = 0;
  std::uint8_t width = 0;  // bytes: 1, 2, 4 or 8
  bool is_signed = false;
  std::uint16_t count = 1;

  constexpr std::uint32_t end() const { return offset + std::uint32_t{width} * count; }
};

// Element `index` of a field, sign-extended if it is signed. The element must lie inside `bytes`.
std::uint64_t load(std::span<const std::byte> bytes, const Field& field, std::uint32_t index = 0);
// Stores the low bytes of `value`.
void store(std::span<std::byte> bytes, const Field& field, std::uint64_t value,
           std::uint32_t index = 0);

// What a field of a message is for.
enum class Part : std::uint8_t {
  kCommand,
  kOp,
  kSend,
  kRecv,
  kCount,
  kStride,
  kDtype,
  kPeer,
  kTiling,
  kValid,
  kRepeat,
  kEveryTurnResponse,
  kEveryTurnWait,
  kDepGroup,
  kDepHandle,
  kHandle,
  kSequence,
  kVersion,
  kCheck,
};

struct MessageField {
  Part part = Part::kCommand;
  Field field;
};

// The second part of a message, for a range of version bytes (both ends included).
struct MessageForm {
  std::uint8_t first_version = 0;
  std::uint8_t last_version = 0;
  std::span<const MessageField> tail;
};

template <class T>
struct CodeRow {
  std::uint32_t code = 0;
  T value{};
  std::string_view vendor_name;
};

// A number that has a vendor's name, but nothing that we could carry stands behind it.
struct NamedCode {
  std::uint32_t code = 0;
  std::string_view vendor_name;
};

struct Layout {
  std::string_view name;

  // Regions: offsets in bytes from the workspace base, which is rounded up to 512.
  std::uint32_t message_bytes = 0;
  std::uint64_t send_messages = 0;
  std::uint64_t recv_messages = 0;  // nobody uses it
  std::uint64_t commits = 0;
  std::uint64_t finished = 0;
  std::uint64_t side_messages = 0;  // only where side_message_bytes is not 0
  std::uint32_t side_message_bytes = 0;
  std::uint64_t end = 0;  // a workspace is at least this long after rounding

  std::uint32_t counter_bytes = 64;
  Field counter_valid{.name = "valid", .offset = 0, .width = 8};
  Field counter_count{.name = "cnt", .offset = 8, .width = 8};
  std::uint32_t slots = 64;
  std::uint32_t handles = 63;

  std::uint32_t valid = 0x5CDF123A;
  std::uint32_t valid_taken = 0xA320EDC5;  // the complement: the server has copied the message
  std::uint64_t commit_valid = 987654321;
  std::uint64_t finalize_finish = 1234567899999999999;

  // A message: the head is common, the version byte (if any) chooses the tail. Every form keeps
  // valid, version and check in the same place. The valid word is stored last, on its own: it
  // publishes the rest.
  std::span<const MessageField> head;
  std::span<const MessageForm> forms;
  std::uint32_t valid_offset = 0;

  std::span<const CodeRow<Command>> commands;
  std::span<const CodeRow<dtype::Dtype>> dtypes;
  std::span<const CodeRow<dtype::ReduceOp>> ops;
  std::span<const NamedCode> named_commands{};
  std::span<const NamedCode> named_dtypes{};
  std::span<const NamedCode> named_ops{};
  std::uint32_t no_op_code = 0;  // in the op word of data movers that don't reduce

  // Behaviour.
  bool valid_word_triggers = false;        // else a valid commit makes the server look
  bool has_check_word = false;             // the last word of a message sums the others
  bool fixes_no_op = false;                // data movers carry no_op_code and nothing else
  bool marks_taken = false;                // the server writes valid_taken
  bool in_order = false;                   // slots are served strictly in order, else any slot
  bool carries_repeat = false;             // else a commit's count names the turn, without limit
  bool clears_commit_valid = false;        // the server clears `valid` of a commit, keeps `cnt`
  bool resets_commit_on_finalize = false;  // the server sets `cnt` of all commits to 0
  bool finalize_has_commit = false;        // the finalize message is followed by a commit

  bool has_side_messages() const { return side_message_bytes != 0; }
  // Offsets of slot `slot` (< slots) from the workspace base.
  std::uint64_t message_at(std::uint32_t slot) const {
    return send_messages + std::uint64_t{message_bytes} * slot;
  }
  std::uint64_t commit_at(std::uint32_t slot) const {
    return commits + std::uint64_t{counter_bytes} * slot;
  }
  std::uint64_t finished_at(std::uint32_t slot) const {
    return finished + std::uint64_t{counter_bytes} * slot;
  }
  std::uint64_t side_message_at(std::uint32_t slot) const {
    return side_messages + std::uint64_t{side_message_bytes} * slot;
  }
};

// All layouts; they live for ever. Thread-safe, as everything here.
std::span<const Layout> all_layouts();
Result<const Layout*> find_layout(std::string_view name);

// The form of a message version, or null when the layout doesn't know the version.
const MessageForm* find_form(const Layout& layout, std::uint8_t version);
// The field of a part in head or tail, or null.
const Field* find_field(const Layout& layout, const MessageForm& form, Part part);

std::optional<std::uint32_t> code_of(const Layout& layout, Command command);
std::optional<std::uint32_t> code_of(const Layout& layout, dtype::Dtype dtype);
std::optional<std::uint32_t> code_of(const Layout& layout, dtype::ReduceOp op);
std::optional<Command> command_of(const Layout& layout, std::uint32_t code);
std::optional<dtype::Dtype> dtype_of(const Layout& layout, std::uint32_t code);
std::optional<dtype::ReduceOp> op_of(const Layout& layout, std::uint32_t code);

// What a number means here and in the other layouts, for messages to people: "12 is SCATTER here,
// AlltoAll in readme-112". Empty when nobody knows it.
std::string describe_command_code(const Layout& layout, std::uint32_t code);
std::string describe_dtype_code(const Layout& layout, std::uint32_t code);
std::string describe_op_code(const Layout& layout, std::uint32_t code);

}  // namespace commrig::mc2
