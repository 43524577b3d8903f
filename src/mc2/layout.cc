// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/layout.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

using dtype::Dtype;
using dtype::ReduceOp;
using enum Part;

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie");

enum class Nature : std::uint8_t { kMove, kReduce, kControl };

struct CommandRow {
  Command command;
  std::string_view name;
  Nature nature;
};

constexpr std::array kCommands{
    CommandRow{Command::kBroadcast, "broadcast", Nature::kMove},
    CommandRow{Command::kAllReduce, "all-reduce", Nature::kReduce},
    CommandRow{Command::kReduce, "reduce", Nature::kReduce},
    CommandRow{Command::kSend, "send", Nature::kMove},
    CommandRow{Command::kReceive, "receive", Nature::kMove},
    CommandRow{Command::kAllGather, "all-gather", Nature::kMove},
    CommandRow{Command::kReduceScatter, "reduce-scatter", Nature::kReduce},
    CommandRow{Command::kAllToAllV, "all-to-all-v", Nature::kMove},
    CommandRow{Command::kAllToAllVC, "all-to-all-vc", Nature::kMove},
    CommandRow{Command::kAllToAll, "all-to-all", Nature::kMove},
    CommandRow{Command::kGather, "gather", Nature::kMove},
    CommandRow{Command::kScatter, "scatter", Nature::kMove},
    CommandRow{Command::kBatchSendRecv, "batch-send-recv", Nature::kMove},
    CommandRow{Command::kBatchPut, "batch-put", Nature::kMove},
    CommandRow{Command::kBatchGet, "batch-get", Nature::kMove},
    CommandRow{Command::kAllGatherV, "all-gather-v", Nature::kMove},
    CommandRow{Command::kReduceScatterV, "reduce-scatter-v", Nature::kReduce},
    CommandRow{Command::kBatchWrite, "batch-write", Nature::kMove},
    CommandRow{Command::kHalfAllToAllV, "half-all-to-all-v", Nature::kMove},
    CommandRow{Command::kFinalize, "finalize", Nature::kControl},
    CommandRow{Command::kGroupSync, "group-sync", Nature::kControl},
    CommandRow{Command::kInit, "init", Nature::kControl},
    CommandRow{Command::kBarrier, "barrier", Nature::kControl},
};

constexpr auto kCommandList = [] {
  std::array<Command, kCommands.size()> list{};
  for (std::size_t i = 0; i < list.size(); ++i) list[i] = kCommands[i].command;
  return list;
}();

// The head is the same in both layouts.
constexpr std::array kHead{
    MessageField{kCommand, {"commType", 0x00, 4}}, MessageField{kOp, {"opType", 0x04, 4}},
    MessageField{kSend, {"sendBuffer", 0x08, 8}},  MessageField{kRecv, {"recvBuffer", 0x10, 8}},
    MessageField{kCount, {"dataCnt", 0x18, 8}},    MessageField{kStride, {"strideCount", 0x20, 8}},
};

// upstream-64: the public HCCL/AscendC headers, the same since November 2025.

constexpr std::array kTailDeprecated{
    MessageField{kDtype, {"hcclDataType", 0x28, 4}},
    MessageField{kPeer, {"p2pSrcDestRankId", 0x2C, 4}},
    MessageField{kValid, {"valid", 0x30, 4}},
    MessageField{kRepeat, {"repeatCnt", 0x34, 1}},
    MessageField{kEveryTurnResponse, {"everyTurnRsp", 0x35, 1}},
    MessageField{kEveryTurnWait, {"everyTurnWait", 0x36, 1}},
    MessageField{kDepGroup, {"commDepGroupID", 0x37, 1, true}},
    MessageField{kDepHandle, {"commDepHandleID", 0x38, 1, true}},
    MessageField{kHandle, {"selfHandleID", 0x39, 1, true}},
    MessageField{kSequence, {"seqNum", 0x3A, 1}},
    MessageField{kVersion, {"version", 0x3B, 1}},
    MessageField{kCheck, {"xorCheck", 0x3C, 4}},
};

constexpr std::array kTailTiling{
    MessageField{kTiling, {"ccOpTilingData", 0x28, 8}},
    MessageField{kValid, {"valid", 0x30, 4}},
    MessageField{kDtype, {"hcclDataType", 0x34, 4}},
    MessageField{kRepeat, {"repeatCnt", 0x38, 1}},
    MessageField{kHandle, {"selfHandleID", 0x39, 1, true}},
    MessageField{kSequence, {"seqNum", 0x3A, 1}},
    MessageField{kVersion, {"version", 0x3B, 1}},
    MessageField{kCheck, {"xorCheck", 0x3C, 4}},
};

// Version 1 carries the address of a tiling, 2 an offset to one, 3 a key; the place is the same.
constexpr std::array kUpstreamForms{MessageForm{0, 0, kTailDeprecated},
                                    MessageForm{1, 3, kTailTiling}};

constexpr std::array kUpstreamCommands{
    CodeRow<Command>{1, Command::kBroadcast, "BROADCAST"},
    CodeRow<Command>{2, Command::kAllReduce, "ALLREDUCE"},
    CodeRow<Command>{3, Command::kReduce, "REDUCE"},
    CodeRow<Command>{4, Command::kSend, "SEND"},
    CodeRow<Command>{5, Command::kReceive, "RECEIVE"},
    CodeRow<Command>{6, Command::kAllGather, "ALLGATHER"},
    CodeRow<Command>{7, Command::kReduceScatter, "REDUCE_SCATTER"},
    CodeRow<Command>{8, Command::kAllToAllV, "ALLTOALLV"},
    CodeRow<Command>{9, Command::kAllToAllVC, "ALLTOALLVC"},
    CodeRow<Command>{10, Command::kAllToAll, "ALLTOALL"},
    CodeRow<Command>{11, Command::kGather, "GATHER"},
    CodeRow<Command>{12, Command::kScatter, "SCATTER"},
    CodeRow<Command>{13, Command::kBatchSendRecv, "BATCH_SEND_RECV"},
    CodeRow<Command>{14, Command::kBatchPut, "BATCH_PUT"},
    CodeRow<Command>{15, Command::kBatchGet, "BATCH_GET"},
    CodeRow<Command>{16, Command::kAllGatherV, "ALLGATHER_V"},
    CodeRow<Command>{17, Command::kReduceScatterV, "REDUCE_SCATTER_V"},
    CodeRow<Command>{18, Command::kBatchWrite, "BATCH_WRITE"},
    CodeRow<Command>{20, Command::kHalfAllToAllV, "HALF_ALLTOALLV"},
    CodeRow<Command>{100, Command::kFinalize, "FINALIZE"},
    CodeRow<Command>{101, Command::kGroupSync, "INTER_GROUP_SYNC"},
    CodeRow<Command>{102, Command::kInit, "INIT"},
    CodeRow<Command>{103, Command::kBarrier, "BARRIER"},
};
constexpr std::array kUpstreamNamedCommands{NamedCode{0, "INVALID"}, NamedCode{21, "ALL"},
                                            NamedCode{104, "MAX"}};

constexpr std::array kUpstreamDtypes{
    CodeRow<Dtype>{0, Dtype::kInt8, "INT8"},
    CodeRow<Dtype>{1, Dtype::kInt16, "INT16"},
    CodeRow<Dtype>{2, Dtype::kInt32, "INT32"},
    CodeRow<Dtype>{3, Dtype::kFp16, "FP16"},
    CodeRow<Dtype>{4, Dtype::kFp32, "FP32"},
    CodeRow<Dtype>{5, Dtype::kInt64, "INT64"},
    CodeRow<Dtype>{6, Dtype::kUint64, "UINT64"},
    CodeRow<Dtype>{7, Dtype::kUint8, "UINT8"},
    CodeRow<Dtype>{8, Dtype::kUint16, "UINT16"},
    CodeRow<Dtype>{9, Dtype::kUint32, "UINT32"},
    CodeRow<Dtype>{10, Dtype::kFp64, "FP64"},
    CodeRow<Dtype>{11, Dtype::kBf16, "BFP16"},
    CodeRow<Dtype>{12, Dtype::kInt128, "INT128"},
    CodeRow<Dtype>{14, Dtype::kHif8, "HIF8"},
    CodeRow<Dtype>{15, Dtype::kFp8E4m3fn, "FP8E4M3"},
    CodeRow<Dtype>{16, Dtype::kFp8E5m2, "FP8E5M2"},
    CodeRow<Dtype>{17, Dtype::kFp8E8m0, "FP8E8M0"},
};
constexpr std::array kUpstreamNamedDtypes{NamedCode{13, "HIF8 in headers of July 2025, unused now"},
                                          NamedCode{18, "MXFP8 (kernel side only)"},
                                          NamedCode{255, "RESERVED"}};

constexpr std::array kOps{
    CodeRow<ReduceOp>{0, ReduceOp::kSum, "SUM"},
    CodeRow<ReduceOp>{1, ReduceOp::kProd, "PROD"},
    CodeRow<ReduceOp>{2, ReduceOp::kMax, "MAX"},
    CodeRow<ReduceOp>{3, ReduceOp::kMin, "MIN"},
};
constexpr std::array kUpstreamNamedOps{NamedCode{4, "RESERVED (no reduction)"},
                                       NamedCode{255, "RESERVED (host side)"}};

// readme-112: what the mock framework's README defines. It gives no meaning to the last 64 bytes
// of a message, so nothing is carried there: no repeat, handle or sequence number, and no side
// message, which is why all-to-all-v has no code.

constexpr std::array kTailReadme{
    MessageField{kValid, {"msgValid", 0x28, 4}},
    MessageField{kDtype, {"hcclDataType", 0x2C, 4}},
};
constexpr std::array kReadmeForms{MessageForm{0, 0, kTailReadme}};

// The README's finalize is "the finalize commit (the last message)". We read that as a message with
// the finalize code of the public headers in the next slot, and a commit of that slot.
constexpr std::array kReadmeCommands{
    CodeRow<Command>{2, Command::kAllReduce, "AllReduce"},
    CodeRow<Command>{6, Command::kAllGather, "AllGather"},
    CodeRow<Command>{7, Command::kReduceScatter, "ReduceScatter"},
    CodeRow<Command>{12, Command::kAllToAll, "AlltoAll"},
    CodeRow<Command>{100, Command::kFinalize, "Finalize"},
};

constexpr std::array kReadmeDtypes{
    CodeRow<Dtype>{0, Dtype::kFp32, "FP32"},     CodeRow<Dtype>{1, Dtype::kFp16, "FP16"},
    CodeRow<Dtype>{2, Dtype::kInt8, "INT8"},     CodeRow<Dtype>{3, Dtype::kInt32, "INT32"},
    CodeRow<Dtype>{5, Dtype::kBf16, "BF16"},     CodeRow<Dtype>{12, Dtype::kFp8E4m3fn, "E4M3"},
    CodeRow<Dtype>{13, Dtype::kFp8E5m2, "E5M2"},
};

constexpr std::array kLayouts{
    Layout{
        .name = "upstream-64",
        .message_bytes = 64,
        .send_messages = 0x0000,
        .recv_messages = 0x1000,
        .commits = 0x4000,
        .finished = 0x5000,
        .side_messages = 0x106000,
        .side_message_bytes = 8256,
        .end = 0x187FC0,  // with the control message and statistics behind the side messages
        .head = kHead,
        .forms = kUpstreamForms,
        .valid_offset = 0x30,
        .commands = kUpstreamCommands,
        .dtypes = kUpstreamDtypes,
        .ops = kOps,
        .named_commands = kUpstreamNamedCommands,
        .named_dtypes = kUpstreamNamedDtypes,
        .named_ops = kUpstreamNamedOps,
        .no_op_code = 4,
        .valid_word_triggers = true,
        .has_check_word = true,
        .fixes_no_op = true,
        .marks_taken = true,
        .in_order = true,
        .carries_repeat = true,
        .resets_commit_on_finalize = true,
    },
    Layout{
        .name = "readme-112",
        .message_bytes = 112,
        .send_messages = 0x0000,
        .recv_messages = 0x1C00,
        .commits = 0x5800,
        .finished = 0x6800,
        .end = 0x7800,
        .head = kHead,
        .forms = kReadmeForms,
        .valid_offset = 0x28,
        .commands = kReadmeCommands,
        .dtypes = kReadmeDtypes,
        .ops = kOps,
        .clears_commit_valid = true,
        .finalize_has_commit = true,
    },
};

const CommandRow* find_row(Command command) {
  const auto* row = std::ranges::find(kCommands, command, &CommandRow::command);
  return row == kCommands.end() ? nullptr : row;
}

template <class T>
std::optional<std::uint32_t> find_code_of(std::span<const CodeRow<T>> rows, T value) {
  const auto row = std::ranges::find(rows, value, &CodeRow<T>::value);
  if (row == rows.end()) return std::nullopt;
  return row->code;
}

template <class T>
std::optional<T> find_value_of(std::span<const CodeRow<T>> rows, std::uint32_t code) {
  const auto row = std::ranges::find(rows, code, &CodeRow<T>::code);
  if (row == rows.end()) return std::nullopt;
  return row->value;
}

template <class T>
std::string describe(const Layout& here, std::uint32_t code,
                     std::span<const CodeRow<T>> Layout::* rows,
                     std::span<const NamedCode> Layout::* named) {
  std::string text;
  const auto add = [&](std::string_view vendor_name, std::string_view where) {
    text += text.empty() ? fmt::format("{} is ", code) : std::string(", ");
    text += fmt::format("{} {}", vendor_name, where);
  };
  const auto add_layout = [&](const Layout& layout, const std::string& where) {
    for (const auto& row : layout.*rows) {
      if (row.code == code) add(row.vendor_name, where);
    }
    for (const auto& row : layout.*named) {
      if (row.code == code) add(row.vendor_name, where);
    }
  };
  add_layout(here, "here");
  for (const Layout& other : kLayouts) {
    if (other.name != here.name) add_layout(other, fmt::format("in {}", other.name));
  }
  return text;
}

}  // namespace

std::string_view name(Command command) {
  const CommandRow* row = find_row(command);
  return row == nullptr ? std::string_view("invalid") : row->name;
}

std::span<const Command> all_commands() {
  return kCommandList;
}

bool is_reduction(Command command) {
  const CommandRow* row = find_row(command);
  return row != nullptr && row->nature == Nature::kReduce;
}

bool is_control(Command command) {
  const CommandRow* row = find_row(command);
  return row != nullptr && row->nature == Nature::kControl;
}

std::uint64_t load(std::span<const std::byte> bytes, const Field& field, std::uint32_t index) {
  const std::size_t at = field.offset + std::size_t{field.width} * index;
  COMMRIG_CHECK(field.width <= 8 && at + field.width <= bytes.size(),
                fmt::format("{}[{}] at {} in {} bytes", field.name, index, at, bytes.size()));
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, field.width);
  const unsigned bits = 8U * field.width;
  if (field.is_signed && bits < 64 && ((value >> (bits - 1)) & 1U) != 0) value |= ~0ULL << bits;
  return value;
}

void store(std::span<std::byte> bytes, const Field& field, std::uint64_t value,
           std::uint32_t index) {
  const std::size_t at = field.offset + std::size_t{field.width} * index;
  COMMRIG_CHECK(field.width <= 8 && at + field.width <= bytes.size(),
                fmt::format("{}[{}] at {} in {} bytes", field.name, index, at, bytes.size()));
  std::memcpy(bytes.data() + at, &value, field.width);
}

std::span<const Layout> all_layouts() {
  return kLayouts;
}

Result<const Layout*> find_layout(std::string_view name) {
  std::string known;
  for (const Layout& layout : kLayouts) {
    if (layout.name == name) return &layout;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", layout.name);
  }
  return Error::make(Code::kUnknownLayout,
                     fmt::format("no workspace layout '{}'; known: {}", name, known));
}

const MessageForm* find_form(const Layout& layout, std::uint8_t version) {
  for (const MessageForm& form : layout.forms) {
    if (form.first_version <= version && version <= form.last_version) return &form;
  }
  return nullptr;
}

const Field* find_field(const Layout& layout, const MessageForm& form, Part part) {
  for (const auto fields : {layout.head, form.tail}) {
    const auto found = std::ranges::find(fields, part, &MessageField::part);
    if (found != fields.end()) return &found->field;
  }
  return nullptr;
}

std::optional<std::uint32_t> code_of(const Layout& layout, Command command) {
  return find_code_of(layout.commands, command);
}

std::optional<std::uint32_t> code_of(const Layout& layout, Dtype dtype) {
  return find_code_of(layout.dtypes, dtype);
}

std::optional<std::uint32_t> code_of(const Layout& layout, ReduceOp op) {
  return find_code_of(layout.ops, op);
}

std::optional<Command> command_of(const Layout& layout, std::uint32_t code) {
  return find_value_of(layout.commands, code);
}

std::optional<Dtype> dtype_of(const Layout& layout, std::uint32_t code) {
  return find_value_of(layout.dtypes, code);
}

std::optional<ReduceOp> op_of(const Layout& layout, std::uint32_t code) {
  return find_value_of(layout.ops, code);
}

std::string describe_command_code(const Layout& layout, std::uint32_t code) {
  return describe<Command>(layout, code, &Layout::commands, &Layout::named_commands);
}

std::string describe_dtype_code(const Layout& layout, std::uint32_t code) {
  return describe<Dtype>(layout, code, &Layout::dtypes, &Layout::named_dtypes);
}

std::string describe_op_code(const Layout& layout, std::uint32_t code) {
  return describe<ReduceOp>(layout, code, &Layout::ops, &Layout::named_ops);
}

}  // namespace commrig::mc2
