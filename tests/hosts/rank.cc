// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// One rank of the job that the environment describes. Usage: hosts_rank program | endless
//
// With `program` it runs a random program of collectives and says "good". With `endless` it sums
// until an error comes, which it says; "summed" after the first time.
#include <cstdio>
#include <string_view>

#include "base/log.h"
#include "base/rng.h"
#include "comm/lobby.h"
#include "tests/integration/random_program.h"

namespace commrig {
namespace {

Status sum_for_ever(comm::Communicator& communicator, device::Machine& machine) {
  COMMRIG_ASSIGN(const auto stream, machine.create_stream(0));
  const std::int32_t input = 1;
  for (bool first = true; true; first = false) {
    std::int32_t output = 0;
    COMMRIG_TRY(communicator.enqueue(
        *stream, {.input = &input, .output = &output, .count = 1, .dtype = dtype::Dtype::kInt32}));
    COMMRIG_TRY(machine.synchronize(*stream));
    if (output != communicator.ranks()) return Error::make(Code::kWrongResult, "a wrong sum");
    if (!first) continue;
    std::puts("summed");
    std::fflush(stdout);
  }
}

Status run(bool endless) {
  ThreadExecutor executor;
  EventStream events;
  device::Machine machine(executor, events, {.devices = 1});
  comm::Lobby lobby(executor, machine, bootstrap::process_environment);
  COMMRIG_ASSIGN(const auto communicator, lobby.join_world());
  if (endless) return sum_for_ever(*communicator, machine);
  return integration::run_random_program({.seed = seed_from_environment(7'000), .operations = 200},
                                         *communicator, machine);
}

}  // namespace
}  // namespace commrig

int main(int argc, char** argv) {
  const std::string_view what = argc == 2 ? argv[1] : "";
  if (what != "program" && what != "endless") {
    std::fputs("usage: hosts_rank program | endless\n", stderr);
    return 2;
  }
  commrig::set_log_sink(commrig::stderr_sink);
  const commrig::Status status = commrig::run(what == "endless");
  std::puts(status ? "good" : commrig::to_string(status.error()).c_str());
  return status ? 0 : 1;
}
