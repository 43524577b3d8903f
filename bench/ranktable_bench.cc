// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// ./rig bench ranktable: how long a table takes to be read and checked, and the most memory that
// took.
#include <sys/resource.h>

#include <string>

#include <benchmark/benchmark.h>

#include "topo/check.h"
#include "topo/make.h"
#include "topo/write.h"

namespace commrig::topo {
namespace {

std::string table_of(Form form, int ranks) {
  MakeOptions options{.form = form, .devices = 16, .address = "10.0.0.1", .pod_servers = 24};
  for (int i = 0; i < ranks / 16; ++i) options.hosts.push_back({.id = "node_" + std::to_string(i)});
  return write_table(make_cluster(options).value(), form).value();
}

double most_memory_mib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void check(benchmark::State& state, Form form) {
  const std::string text = table_of(form, static_cast<int>(state.range(0)));
  std::size_t findings = 0;
  for (auto _ : state) {
    const CheckedTable table = check_table(text);
    findings = table.count(Severity::kError);
    benchmark::DoNotOptimize(findings);
  }
  if (findings != 0) state.SkipWithError("a made table has errors");
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
  state.counters["process_MiB"] = most_memory_mib();
}

BENCHMARK_CAPTURE(check, table_1_2, Form::kV12)
    ->Arg(384)
    ->Arg(16384)
    ->Arg(100000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(check, table_2_0, Form::kV20)->Arg(16384)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace commrig::topo
