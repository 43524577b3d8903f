// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/local_job.h"

#include <unistd.h>

#include "base/reserved_port.h"
#include "comm/tally.h"

namespace commrig::cli::run {
namespace {

// Not kept: programs may listen there in ways that a reserved port does not allow.
Result<std::uint16_t> free_port() {
  COMMRIG_ASSIGN(const ReservedPort port, ReservedPort::take());
  return port.number();
}

}  // namespace

Variables own_variables() {
  Variables variables;
  for (char** each = environ; *each != nullptr; ++each) variables.emplace_back(*each);
  return variables;
}

Result<JobEnd> run_local_job(const LocalJob& job, const Clock& clock) {
  COMMRIG_ASSIGN(const ReservedPort port, ReservedPort::take());
  COMMRIG_ASSIGN(const std::uint16_t master_port, free_port());
  const JobPlace place{.ranks = static_cast<int>(job.ranks.size()),
                       .master_port = master_port,
                       .port = port.number(),
                       .seed = job.seed,
                       .devices = job.devices};
  COMMRIG_ASSIGN(const comm::Tally tally, comm::Tally::create(place.ranks));
  JobSpec spec{.program = job.program, .tags = job.tags, .timeout = job.timeout};
  for (int process = 0; process < place.ranks; ++process) {
    Variables variables = rank_environment(job.variables, place, process);
    set(variables, comm::Tally::kVariable, tally.path());
    spec.processes.push_back({.environment = std::move(variables),
                              .ranks = job.ranks[static_cast<std::size_t>(process)]});
  }
  COMMRIG_ASSIGN(JobEnd end, run_job(spec, clock));
  end.done = tally.sum();
  return end;
}

}  // namespace commrig::cli::run
