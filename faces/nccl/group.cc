// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/nccl/group.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "faces/nccl/log.h"
#include "faces/nccl/translate.h"
#include "rig/runtime.h"

namespace commrig::nccl {
namespace {

struct Group {
  int depth = 0;
  ncclResult_t error = ncclSuccess;  // the first one of a call inside
  std::vector<Operation> operations;
  std::vector<Job> jobs;
};

thread_local Group group;

void keep_first(ncclResult_t& kept, ncclResult_t result) {
  if (kept == ncclSuccess) kept = result;
}

void take_back(const Job& job) {
  if (job.target == nullptr) return;
  (void)remove_comm(*job.target);
  *job.target = nullptr;
}

void run(const Job& job) {
  const ncclResult_t result = enter([&] { return job.run(*job.comm); });
  job.comm->phase.store(result == ncclSuccess ? Phase::kReady : Phase::kFailed,
                        std::memory_order_release);
  job.comm->joined.store(result, std::memory_order_release);
}

ncclResult_t check_one_kind(const Group& ended) {
  const auto all_are = [&](bool blocking) {
    const auto is = [&](const auto& each) { return each.comm->config.blocking == blocking; };
    return std::ranges::all_of(ended.jobs, is) && std::ranges::all_of(ended.operations, is);
  };
  if (all_are(true) || all_are(false)) return ncclSuccess;
  return refuse(ncclInvalidArgument,
                "ncclGroupEnd: blocking and nonblocking communicators in one group");
}

// Each on a thread of its own, since each waits for the others.
ncclResult_t run_and_wait(const std::vector<Job>& jobs) {
  std::vector<std::function<void()>> bodies;
  for (const Job& job : jobs) bodies.emplace_back([&job] { run(job); });
  ncclResult_t result = translate(rig::run_together(bodies));
  for (const Job& job : jobs) {
    if (job.comm->phase.load(std::memory_order_acquire) == Phase::kReady) continue;
    const ncclResult_t joined = job.comm->joined.load(std::memory_order_acquire);
    keep_first(result, joined == ncclInProgress ? ncclSystemError : joined);
    take_back(job);
  }
  return result;
}

// The program asks by ncclCommGetAsyncError how far they are.
ncclResult_t run_behind(const std::vector<Job>& jobs) {
  for (const Job& job : jobs) {
    COMMRIG_NCCL_TRY(translate(rig::spawn("cr-join", [job] {
      run(job);
      rig::poke();
    })));
  }
  return ncclInProgress;
}

ncclResult_t run_jobs(const std::vector<Job>& jobs) {
  if (jobs.empty()) return ncclSuccess;
  return jobs.front().comm->config.blocking ? run_and_wait(jobs) : run_behind(jobs);
}

// A message to the own rank goes on when it is received, so both are in one group.
ncclResult_t check_own_messages(const Comm& comm, std::span<const rig::StreamMessage> messages) {
  int balance = 0;
  for (const rig::StreamMessage& each : messages) {
    if (each.message.peer == comm.rank) balance += each.message.outgoing ? 1 : -1;
  }
  if (balance == 0) return ncclSuccess;
  return refuse(ncclInvalidUsage,
                fmt::format("rank {} {} in this group; trying to send to self without a matching "
                            "recv in the same group, or the other way round",
                            comm.rank,
                            balance > 0 ? "sends to itself and doesn't receive that"
                                        : "receives from itself what it doesn't send"));
}

ncclResult_t run_messages(const std::vector<Operation>& operations, const CommPtr& comm) {
  std::vector<rig::StreamMessage> messages;
  for (const Operation& each : operations) {
    if (each.comm != comm) continue;
    if (const auto* message = std::get_if<comm::Message>(&each.what)) {
      messages.push_back({each.stream, *message});
    }
  }
  COMMRIG_NCCL_TRY(check_own_messages(*comm, messages));
  return translate(comm->communicator->enqueue(messages));
}

// Collectives in the order of the calls, then the messages of each communicator together: all ranks
// so agree on the order, however they mix the two.
ncclResult_t run_operations(const std::vector<Operation>& operations) {
  std::vector<CommPtr> with_messages;
  for (const Operation& each : operations) {
    if (const auto* op = std::get_if<CollectiveOp>(&each.what)) {
      COMMRIG_NCCL_TRY(
          translate(each.comm->communicator->enqueue(each.stream, op->call, op->scale)));
    } else if (std::ranges::find(with_messages, each.comm) == with_messages.end()) {
      with_messages.push_back(each.comm);
    }
  }
  for (const CommPtr& comm : with_messages) COMMRIG_NCCL_TRY(run_messages(operations, comm));
  return ncclSuccess;
}

// Drops what the group has collected; the next one is clean.
Group take_group() {
  return std::exchange(group, Group());
}

ncclResult_t end_group() {
  if (group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
  if (--group.depth > 0) return ncclSuccess;
  Group ended = take_group();
  if (ended.error == ncclSuccess) ended.error = check_one_kind(ended);
  if (ended.error != ncclSuccess) {
    std::ranges::for_each(ended.jobs, take_back);
    return ended.error;
  }
  const ncclResult_t jobs = run_jobs(ended.jobs);
  if (jobs != ncclSuccess && jobs != ncclInProgress) return jobs;
  COMMRIG_NCCL_TRY(run_operations(ended.operations));
  return jobs;
}

}  // namespace

ncclResult_t remember(ncclResult_t result) {
  if (group.depth > 0 && result != ncclInProgress) keep_first(group.error, result);
  return result;
}

ncclResult_t submit(Operation operation) {
  group.operations.push_back(std::move(operation));
  if (group.depth > 0) return ncclSuccess;
  return run_operations(take_group().operations);
}

ncclResult_t submit(Job job) {
  group.jobs.push_back(std::move(job));
  if (group.depth > 0) return ncclSuccess;
  return run_jobs(take_group().jobs);
}

}  // namespace commrig::nccl

using namespace commrig::nccl;  // NOLINT(google-build-using-namespace): the interface is C

COMMRIG_NCCL(ncclGroupStart, void) {
  ++group.depth;
  return ncclSuccess;
}

COMMRIG_NCCL(ncclGroupEnd, void) {
  return enter([] { return end_group(); });
}

// Ends the group without its operations. There is no model of time here, so the estimate is 0.
COMMRIG_NCCL(ncclGroupSimulateEnd, ncclSimInfo_t* simInfo) {
  return enter([&] {
    if (group.depth == 0) return refuse(ncclInvalidUsage, "ncclGroupEnd: not in a group call.");
    const ncclSimInfo_t known = NCCL_SIM_INFO_INITIALIZER;
    if (simInfo != nullptr && (simInfo->magic != known.magic || simInfo->size < sizeof(known))) {
      return refuse(ncclInvalidArgument,
                    "ncclSimInfo_t: not initialised; set it with NCCL_SIM_INFO_INITIALIZER first");
    }
    if (--group.depth > 0) return ncclSuccess;
    const Group ended = take_group();
    std::ranges::for_each(ended.jobs, take_back);
    if (simInfo != nullptr) simInfo->estimatedTime = 0;
    return ended.error;
  });
}
