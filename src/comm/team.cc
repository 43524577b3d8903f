// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "comm/team.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>
#include <system_error>

#include <fmt/format.h>

namespace commrig::comm {

Team::Team(device::Machine& machine, int ranks, std::unique_ptr<LinkSource> links)
    : machine_(machine),
      segment_bytes_(segment_bytes(ranks)),
      source_(std::move(links)),
      abort_(&machine.abort_flag()) {}

Result<std::shared_ptr<Team>> Team::create(device::Machine& machine, int ranks,
                                           std::unique_ptr<LinkSource> links) {
  std::shared_ptr<Team> team(new Team(machine, ranks, std::move(links)));  // tidy: allow(new) private
  // Pages that nobody touches cost nothing, so that many ranks with few operations stay small.
  void* const segment = ::mmap(nullptr, team->segment_bytes_, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (segment == MAP_FAILED) {
    const std::string text = std::error_code(errno, std::generic_category()).message();
    return Error::make(Code::kSystemCall, fmt::format("mmap of {} bytes for the boards of {} ranks: {}",
                                                      team->segment_bytes_, ranks, text));
  }
  team->segment_ = static_cast<std::byte*>(segment);
  std::byte* const slots = team->segment_ + static_cast<std::size_t>(ranks) * sizeof(Board);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto index = static_cast<std::size_t>(rank);
    team->boards_.push_back(new (team->segment_ + index * sizeof(Board)) Board);  // tidy: allow(new) placement
    team->slots_.push_back(slots + index * 2 * kSlotBytes);
  }
  team->links_.lock()->resize(static_cast<std::size_t>(ranks));
  return team;
}

Team::~Team() {
  if (segment_ != nullptr) ::munmap(segment_, segment_bytes_);
}

Result<transport::Link*> Team::link(int rank, int peer) {
  const auto links = links_.lock();
  auto& row = (*links)[static_cast<std::size_t>(rank)];
  if (row.empty()) row.resize(boards_.size());
  auto& link = row[static_cast<std::size_t>(peer)];
  if (link == nullptr) {
    COMMRIG_ASSIGN(link, source_->connect(rank, peer));
  }
  return link.get();
}

Result<std::shared_ptr<Team>> Team::child(std::uint64_t number, int ranks) {
  const auto children = children_.lock();
  Child& child = (*children)[number];
  if (child.team == nullptr) {
    COMMRIG_ASSIGN(child.team, create(machine_, ranks, source_->split()));
  }
  std::shared_ptr<Team> team = child.team;
  if (++child.taken == ranks) children->erase(number);
  return team;
}

void Team::fail(const Error& error) {
  abort_.raise(error, machine_.executor());
  machine_.poke();
}

}  // namespace commrig::comm
