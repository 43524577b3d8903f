// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "mc2/message.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <type_traits>

#include <fmt/format.h>

namespace commrig::mc2 {
namespace {

auto parts_of(const Message& m) {
  return std::tie(m.command, m.op, m.send, m.recv, m.count, m.stride, m.dtype, m.queue, m.queue_row,
                  m.repeat, m.handle, m.sequence, m.version, m.tiling, m.peer,
                  m.every_turn_response, m.every_turn_wait, m.dep_group, m.dep_handle);
}

// A batch write keeps queue numbers where others have reduction and element type.
bool has_dtype(Command command) {
  return !is_control(command) && command != Command::kBatchWrite;
}

// Calls `visit` with the member behind a part; valid and check word have none.
template <class AnyMessage, class Visit>
void visit_part(AnyMessage& m, Part part, Visit visit) {
  switch (part) {
    case Part::kCommand:
      return visit(m.wire.command);
    case Part::kOp:
      return visit(m.wire.op);
    case Part::kSend:
      return visit(m.send);
    case Part::kRecv:
      return visit(m.recv);
    case Part::kCount:
      return visit(m.count);
    case Part::kStride:
      return visit(m.stride);
    case Part::kDtype:
      return visit(m.wire.dtype);
    case Part::kPeer:
      return visit(m.peer);
    case Part::kTiling:
      return visit(m.tiling);
    case Part::kRepeat:
      return visit(m.repeat);
    case Part::kEveryTurnResponse:
      return visit(m.every_turn_response);
    case Part::kEveryTurnWait:
      return visit(m.every_turn_wait);
    case Part::kDepGroup:
      return visit(m.dep_group);
    case Part::kDepHandle:
      return visit(m.dep_handle);
    case Part::kHandle:
      return visit(m.handle);
    case Part::kSequence:
      return visit(m.sequence);
    case Part::kVersion:
      return visit(m.version);
    case Part::kValid:
    case Part::kCheck:
      return;
  }
}

// Fields carry signed members by their low bytes.
void store_part(std::span<std::byte> bytes, const MessageField& row, const Message& message) {
  visit_part(message, row.part, [&](const auto& member) {
    store(bytes, row.field, static_cast<std::uint64_t>(member));
  });
}

void load_part(std::span<const std::byte> bytes, const MessageField& row, Message& message) {
  visit_part(message, row.part, [&](auto& member) {
    member = static_cast<std::decay_t<decltype(member)>>(load(bytes, row.field));
  });
}

// The numbers that `message` has in `layout`.
Result<WireCodes> codes_of(const Layout& layout, const Message& message) {
  WireCodes codes;
  const auto command = code_of(layout, message.command);
  if (!command) {
    return Error::make(Code::kUnsupportedCommand,
                       fmt::format("{} can't carry {}", layout.name, name(message.command)));
  }
  codes.command = *command;
  if (message.command == Command::kBatchWrite) {
    codes.op = message.queue_row;
    codes.dtype = message.queue;
    return codes;
  }
  if (is_control(message.command)) return codes;

  codes.op = layout.no_op_code;
  if (is_reduction(message.command)) {
    const auto op = message.op ? code_of(layout, *message.op) : std::nullopt;
    if (!op) {
      return Error::make(Code::kBadOpCode, fmt::format("{} without a reduction that {} has",
                                                       name(message.command), layout.name));
    }
    codes.op = *op;
  }
  const auto dtype = code_of(layout, message.dtype);
  if (!dtype) {
    return Error::make(Code::kBadDtypeCode,
                       fmt::format("{} has no code for element type {}", layout.name,
                                   dtype::info(message.dtype).name));
  }
  codes.dtype = *dtype;
  return codes;
}

// Builds the findings of one message.
class Reader {
 public:
  Reader(const Layout& layout, std::span<const std::byte> bytes, const Place& place)
      : layout_(layout),
        bytes_(bytes.first(std::min<std::size_t>(bytes.size(), layout.message_bytes))),
        place_(place) {}

  std::optional<Finding> read(Message& out) {
    if (bytes_.size() < layout_.message_bytes) {
      Finding finding = at(Code::kWorkspaceTooSmall, nullptr);
      finding.expected = fmt::format("a message of {} bytes", layout_.message_bytes);
      finding.found = fmt::format("{} bytes", bytes_.size());
      return finding;
    }
    out = Message{};
    if (auto wrong = read_check_word()) return wrong;
    for (const MessageField& row : layout_.head) load_part(bytes_, row, out);
    if (auto wrong = read_command(out)) return wrong;
    if (auto wrong = read_tail(out)) return wrong;
    if (!layout_.carries_repeat && is_control(out.command)) out.repeat = 0;
    if (out.command == Command::kBatchWrite) {
      out.queue_row = out.wire.op;
      out.queue = out.wire.dtype;
    }
    if (auto wrong = read_op(out)) return wrong;
    return read_dtype(out);
  }

 private:
  Finding at(Code code, const Field* field) const {
    Finding finding;
    finding.code = code;
    finding.rank = place_.rank;
    finding.slot = place_.slot;
    if (field != nullptr) finding.field = field->name;
    if (place_.offset >= 0) {
      finding.offset = place_.offset + (field == nullptr ? 0 : std::int64_t{field->offset});
    }
    return finding;
  }

  // Valid, version and check lie in the same place in every form, so the first one serves.
  const Field* shared_field(Part part) const {
    return find_field(layout_, layout_.forms.front(), part);
  }

  std::optional<Finding> read_check_word() const {
    const Field* field = shared_field(Part::kCheck);
    if (field == nullptr) return std::nullopt;
    const std::uint64_t found = load(bytes_, *field);
    const std::uint64_t expected = check_word(layout_, bytes_);
    if (found == expected) return std::nullopt;
    Finding finding = at(Code::kCheckWord, field);
    finding.expected = fmt::format("{:#010x}", expected);
    finding.found = fmt::format("{:#010x}", found);
    return finding;
  }

  std::optional<Finding> read_command(Message& out) const {
    if (const auto command = command_of(layout_, out.wire.command)) {
      out.command = *command;
      return std::nullopt;
    }
    Finding finding = at(Code::kUnknownCommand, shared_field(Part::kCommand));
    finding.expected = fmt::format("a command code of {}", layout_.name);
    finding.found = fmt::format("{}", out.wire.command);
    finding.detail = describe_command_code(layout_, out.wire.command);
    return finding;
  }

  std::optional<Finding> read_tail(Message& out) {
    const Field* field = shared_field(Part::kVersion);
    const auto version =
        field == nullptr ? std::uint8_t{0} : static_cast<std::uint8_t>(load(bytes_, *field));
    form_ = find_form(layout_, version);
    if (form_ == nullptr || (is_control(out.command) && version != 0)) {
      Finding finding = at(Code::kBadVersion, field);
      finding.expected = is_control(out.command) ? "0, as in every control message"
                                                 : fmt::format("a version of {}", layout_.name);
      finding.found = fmt::format("{}", version);
      return finding;
    }
    for (const MessageField& row : form_->tail) load_part(bytes_, row, out);
    return std::nullopt;
  }

  std::optional<Finding> read_op(Message& out) const {
    if (!is_reduction(out.command)) return std::nullopt;
    out.op = op_of(layout_, out.wire.op);
    if (out.op) return std::nullopt;
    Finding finding = at(Code::kBadOpCode, shared_field(Part::kOp));
    finding.expected = fmt::format("a reduction of {}", layout_.name);
    finding.found = fmt::format("{}", out.wire.op);
    finding.detail = describe_op_code(layout_, out.wire.op);
    return finding;
  }

  std::optional<Finding> read_dtype(Message& out) const {
    if (!has_dtype(out.command)) return std::nullopt;
    if (const auto dtype = dtype_of(layout_, out.wire.dtype)) {
      out.dtype = *dtype;
      return std::nullopt;
    }
    Finding finding = at(Code::kBadDtypeCode, find_field(layout_, *form_, Part::kDtype));
    finding.expected = fmt::format("an element type code of {}", layout_.name);
    finding.found = fmt::format("{}", out.wire.dtype);
    finding.detail = describe_dtype_code(layout_, out.wire.dtype);
    return finding;
  }

  const Layout& layout_;
  std::span<const std::byte> bytes_;
  Place place_;
  const MessageForm* form_ = nullptr;
};

}  // namespace

bool operator==(const Message& a, const Message& b) {
  return parts_of(a) == parts_of(b);
}

Message finalize_message() {
  return Message{.command = Command::kFinalize, .repeat = 0};
}

Message group_sync_message(std::int8_t group, std::int8_t handle) {
  return Message{
      .command = Command::kGroupSync, .repeat = 0, .dep_group = group, .dep_handle = handle};
}

Place message_place(const Layout& layout, int rank, int slot) {
  Place place{.rank = rank, .slot = slot};
  if (slot >= 0) {
    place.offset = static_cast<std::int64_t>(layout.message_at(static_cast<std::uint32_t>(slot)));
  }
  return place;
}

std::uint32_t check_word(const Layout& layout, std::span<const std::byte> bytes) {
  const Field* check = find_field(layout, layout.forms.front(), Part::kCheck);
  COMMRIG_CHECK(check != nullptr, fmt::format("{} has no check word", layout.name));
  std::uint32_t word = 0;
  for (std::uint32_t offset = 0; offset < check->offset; offset += 4) {
    const Field field{.name = "word", .offset = offset, .width = 4};
    word ^= offset == layout.valid_offset ? layout.valid
                                          : static_cast<std::uint32_t>(load(bytes, field));
  }
  return word;
}

Status encode(const Layout& layout, const Message& message, std::span<std::byte> out) {
  if (out.size() < layout.message_bytes) {
    return Error::make(Code::kWorkspaceTooSmall,
                       fmt::format("a message of {} needs {} bytes, there are {}", layout.name,
                                   layout.message_bytes, out.size()));
  }
  Message coded = message;
  COMMRIG_ASSIGN(coded.wire, codes_of(layout, message));
  const MessageForm* form = find_form(layout, message.version);
  if (form == nullptr || (is_control(message.command) && message.version != 0)) {
    return Error::make(Code::kBadVersion,
                       fmt::format("{} has no {} message of version {}", layout.name,
                                   name(message.command), message.version));
  }
  const std::span<std::byte> bytes = out.first(layout.message_bytes);
  std::ranges::fill(bytes, std::byte{0});
  for (const auto fields : {layout.head, form->tail}) {
    for (const MessageField& row : fields) store_part(bytes, row, coded);
  }
  store(bytes, *find_field(layout, *form, Part::kValid), layout.valid);
  if (const Field* check = find_field(layout, *form, Part::kCheck)) {
    store(bytes, *check, check_word(layout, bytes));
  }
  return ok();
}

std::optional<Finding> decode(const Layout& layout, std::span<const std::byte> bytes,
                              const Place& place, Message& out) {
  return Reader(layout, bytes, place).read(out);
}

}  // namespace commrig::mc2
