// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/tally.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <charconv>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace commrig::comm {
namespace {

constexpr std::uint64_t kMagic = 0x796C6C61742D7263U;
constexpr std::size_t kFindingsMax = 60;

struct alignas(64) TallyLine {
  std::atomic<std::uint64_t> collectives{0};
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
};

}  // namespace

// The lines stand behind it.
struct TallyPage {
  std::atomic<std::uint64_t> magic{0};
  std::atomic<std::uint64_t> lines{0};
  std::array<std::atomic<std::uint64_t>, kFindingsMax> communicators{};  // with errors; 0: none
  std::atomic<std::uint64_t> more_findings{0};
  std::uint64_t unused = 0;

  TallyLine& line(std::size_t number) {
    auto* const first = reinterpret_cast<std::byte*>(this) + sizeof(TallyPage);
    return *std::launder(reinterpret_cast<TallyLine*>(first + number * sizeof(TallyLine)));
  }
};
static_assert(sizeof(TallyPage) % alignof(TallyLine) == 0);

namespace {

std::size_t bytes_for(std::size_t lines) {
  return sizeof(TallyPage) + lines * sizeof(TallyLine);
}

void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
  counter.fetch_add(amount, std::memory_order_relaxed);
}

std::size_t rank_of(bootstrap::Environment environment) {
  const std::string text = environment("COMMRIG_RANK").value_or("");
  std::size_t rank = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), rank);
  return rank;
}

// The descriptor's file, as far as it is such a page; a file that ended before its lines do would
// end this process.
Result<transport::Segment> map_page(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  // What another process can make shorter is none of ours.
  const bool sealed =
      descriptor && (::fcntl(descriptor.get(), F_GET_SEALS) & F_SEAL_SHRINK) == F_SEAL_SHRINK;
  if (!sealed) return Error::make(Code::kSystemCall, "no tally");
  Descriptor again(::fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0));
  COMMRIG_ASSIGN(transport::Segment head,
                 transport::Segment::map(std::move(again), sizeof(TallyPage)));
  const auto* const page = std::launder(reinterpret_cast<const TallyPage*>(head.base()));
  const std::uint64_t lines = page->lines.load(std::memory_order_relaxed);
  constexpr std::uint64_t kLinesMax = 1U << 20U;
  if (page->magic.load(std::memory_order_relaxed) != kMagic || lines == 0 || lines > kLinesMax) {
    return Error::make(Code::kSystemCall, "no tally");
  }
  return transport::Segment::map(std::move(descriptor), bytes_for(lines));
}

}  // namespace

Result<Tally> Tally::create(int ranks) {
  Tally tally;
  const auto lines = static_cast<std::size_t>(ranks);
  COMMRIG_ASSIGN(tally.segment_, transport::Segment::create("commrig-tally", bytes_for(lines)));
  auto* const page = new (tally.segment_.base()) TallyPage;  // tidy: allow(new) placement
  for (std::size_t i = 0; i < lines; ++i) {
    new (&page->line(i)) TallyLine;  // tidy: allow(new) placement
  }
  page->lines.store(lines, std::memory_order_relaxed);
  page->magic.store(kMagic, std::memory_order_release);
  return tally;
}

Tally Tally::attach(bootstrap::Environment environment) {
  Tally tally;
  const std::optional<std::string> path = environment(kVariable);
  if (!path) return tally;
  Result<transport::Segment> segment = map_page(*path);
  if (!segment) return tally;
  tally.segment_ = std::move(segment).value();
  tally.line_ = rank_of(environment) % tally.page()->lines.load(std::memory_order_relaxed);
  return tally;
}

TallyPage* Tally::page() const {
  if (!segment_) return nullptr;
  return std::launder(reinterpret_cast<TallyPage*>(segment_.base()));
}

std::string Tally::path() const {
  return fmt::format("/proc/{}/fd/{}", ::getpid(), segment_.descriptor());
}

Tally::Sum Tally::sum() const {
  Sum sum;
  TallyPage* const all = page();
  if (all == nullptr) return sum;
  const std::uint64_t lines = all->lines.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < lines; ++i) {
    const TallyLine& line = all->line(i);
    sum.collectives += line.collectives.load(std::memory_order_relaxed);
    sum.messages += line.messages.load(std::memory_order_relaxed);
    sum.bytes += line.bytes.load(std::memory_order_relaxed);
  }
  for (const auto& each : all->communicators) {
    if (each.load(std::memory_order_relaxed) != 0) ++sum.findings;
  }
  sum.findings += all->more_findings.load(std::memory_order_relaxed);
  return sum;
}

void Tally::add_collective(std::uint64_t bytes, bool counts) {
  TallyPage* const all = page();
  if (all == nullptr) return;
  if (counts) add(all->line(line_).collectives, 1);
  add(all->line(line_).bytes, bytes);
}

void Tally::add_message(std::uint64_t bytes) {
  TallyPage* const all = page();
  if (all == nullptr) return;
  add(all->line(line_).messages, 1);
  add(all->line(line_).bytes, bytes);
}

void Tally::add_finding(std::uint64_t communicator) {
  TallyPage* const all = page();
  if (all == nullptr) return;
  const std::uint64_t key = communicator != 0 ? communicator : 1;
  for (auto& each : all->communicators) {
    std::uint64_t found = 0;
    if (each.compare_exchange_strong(found, key, std::memory_order_relaxed) || found == key) return;
  }
  add(all->more_findings, 1);
}

Tally& process_tally() {
  // Libraries of one process share it, and calls may come from destructors at its end.
  static auto* const kTally = new Tally(  // tidy: allow(new) lives until the process ends
      Tally::attach([](std::string_view name) { return bootstrap::process_environment(name); }));
  return *kTally;
}

}  // namespace commrig::comm
