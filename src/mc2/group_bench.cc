// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// What a turn costs, beside a server that polls every 50 us as the documented mock does, and how
// far large turns are from what this machine's memory allows. With any --benchmark_ option, as
// `./rig bench --quick` gives, everything is run once and small.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/thread_executor.h"
#include "device/kernel.h"
#include "device/machine.h"
#include "dtype/limits_for_bench.h"
#include "mc2/client.h"
#include "mc2/group.h"

namespace commrig::mc2 {
namespace {

constexpr Nanos kPoll{50'000};
constexpr std::uint32_t kTurnsMax = 250;  // of one message here

void print(const std::string& line) {
  fmt::print("{}\n", line);  // tidy: allow(print) a benchmark's table is its result
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

struct Load {
  Command command = Command::kAllGather;
  int ranks = 1;
  std::uint64_t count = 256;  // of fp32, per rank
  std::uint32_t messages = 1;
  std::uint32_t turns = kTurnsMax;  // of each message
  Nanos gap{0};                     // of computing before each commit
  bool polled = false;
};

// The ranks of a group that run one load, and what each rank saw.
class Bench {
 public:
  explicit Bench(const Load& load)
      : load_(load),
        ranks_(static_cast<std::size_t>(load.ranks)),
        machine_(executor_, events_, {.devices = load.ranks}),
        latencies_(ranks_),
        ends_(ranks_) {
    GroupOptions options{.layout = *find_layout("upstream-64"), .ranks = load.ranks};
    options.doorbell = !load.polled;
    if (load.polled) options.server.poll_interval = kPoll;
    group_ = std::move(Group::create(machine_, options)).value();
    const std::size_t bytes = load.count * sizeof(float) * load.turns;
    for (int rank = 0; rank < load.ranks; ++rank) {
      streams_.push_back(std::move(machine_.create_stream(rank)).value());
      sends_.push_back(buffer(rank, bytes));
      const bool gathers = load.command == Command::kAllGather;
      recvs_.push_back(buffer(rank, gathers ? bytes * ranks_ : bytes));
    }
  }

  // Runs the load once; seconds from the first launch to the end of the last kernel.
  double run() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      latencies_[rank].clear();
      ends_[rank].clear();
    }
    const Nanos begin = executor_.now();
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const auto kernel = [this, rank](device::KernelContext& context) {
        return work(context, rank);
      };
      const Status launched = device::launch_function(
          *streams_[rank], group_->launch_config(static_cast<int>(rank)), kernel);
      COMMRIG_CHECK(launched.has_value(), "the launch was refused");
    }
    for (const auto& stream : streams_) {
      const Status status = machine_.synchronize(*stream);
      COMMRIG_CHECK(status.has_value(), to_string(status.error()));
    }
    return std::chrono::duration<double>(executor_.now() - begin).count();
  }

  // Seconds from commit to the end of wait, over all ranks and turns of the last run.
  double latency() const {
    std::vector<double> all;
    for (const auto& each : latencies_) all.insert(all.end(), each.begin(), each.end());
    return median(std::move(all));
  }
  // Seconds from the end of one turn to that of the next, as rank 0 saw them.
  double period() const {
    std::vector<double> periods;
    for (std::size_t i = 1; i < ends_[0].size(); ++i) {
      periods.push_back(std::chrono::duration<double>(ends_[0][i] - ends_[0][i - 1]).count());
    }
    return median(std::move(periods));
  }

 private:
  std::byte* buffer(int rank, std::size_t bytes) {
    auto* const memory = static_cast<std::byte*>(*machine_.memory().allocate(rank, bytes));
    device::Memory::prefault(*machine_.memory().resolve(memory, bytes));
    std::memset(memory, 0, bytes);
    return memory;
  }

  Result<Handle> prepare(Client& client, std::size_t rank) {
    const Transfer transfer{
        .send = sends_[rank], .recv = recvs_[rank], .count = load_.count, .repeat = load_.turns};
    if (load_.command == Command::kAllGather) return client.all_gather(transfer);
    return client.all_reduce(transfer, dtype::ReduceOp::kSum);
  }

  Status work(device::KernelContext& kernel, std::size_t rank) {
    Client client(kernel, group_->layout());
    COMMRIG_TRY(client.init(group_->context(static_cast<int>(rank))));
    for (std::uint32_t message = 0; message < load_.messages; ++message) {
      COMMRIG_ASSIGN(const Handle handle, prepare(client, rank));
      for (std::uint32_t turn = 0; turn < load_.turns; ++turn) {
        const Nanos start = kernel.now();
        while (load_.gap != Nanos::zero() && kernel.now() - start < load_.gap) {
        }
        const Nanos begin = kernel.now();
        COMMRIG_TRY(client.commit(handle));
        COMMRIG_TRY(client.wait(handle));
        ends_[rank].push_back(kernel.now());
        latencies_[rank].push_back(
            std::chrono::duration<double>(ends_[rank].back() - begin).count());
      }
    }
    return client.finalize();
  }

  Load load_;
  std::size_t ranks_;
  ThreadExecutor executor_;
  EventStream events_;
  device::Machine machine_;
  std::unique_ptr<Group> group_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
  std::vector<std::byte*> sends_;
  std::vector<std::byte*> recvs_;
  std::vector<std::vector<double>> latencies_;
  std::vector<std::vector<Nanos>> ends_;
};

// Ours and the poller's in turns, each alone on the machine; medians of the rounds.
template <class Measure>
std::pair<double, double> in_turns(Load load, int rounds, const Measure& measure) {
  std::vector<double> seconds[2];
  for (int round = 0; round < rounds; ++round) {
    for (const bool polled : {false, true}) {
      load.polled = polled;
      Bench bench(load);
      seconds[polled ? 1 : 0].push_back(measure(bench));
    }
  }
  return {median(seconds[0]), median(seconds[1])};
}

void bench_latency(bool quick) {
  print("\ncommit to finished, 1 KiB a rank; us, median of all turns\n");
  print(fmt::format("{:>5} {:>12} {:>10} {:>12} {:>7}", "ranks", "computing", "ours",
                    "50 us poller", "ratio"));
  for (const int ranks : {1, 4}) {
    for (const int gap_us : {0, 10, 100, 1000}) {
      const Load load{.ranks = ranks,
                      .turns = quick            ? 2U
                               : gap_us == 1000 ? 50U
                                                : kTurnsMax,
                      .gap = Nanos(gap_us * 1000)};
      const auto [ours, polled] = in_turns(load, quick ? 1 : 15, [](Bench& bench) {
        bench.run();  // warms up
        bench.run();
        return bench.latency();
      });
      print(fmt::format("{:>5} {:>9} us {:>10.2f} {:>12.2f} {:>7.1f}", ranks, gap_us, 1e6 * ours,
                        1e6 * polled, polled / ours));
    }
  }
}

void bench_many_ranks(bool quick) {
  constexpr int kRanks = 64;
  print("\n64 ranks, all-gather, 1,000 turns in 4 messages; rank-turns a second\n");
  print(fmt::format("{:>10} {:>10} {:>12} {:>7}", "a rank", "ours", "50 us poller", "ratio"));
  for (const std::uint64_t count : {std::uint64_t{4}, std::uint64_t{256}}) {
    const Load load{.ranks = kRanks,
                    .count = count,
                    .messages = quick ? 1U : 4U,
                    .turns = quick ? 2U : kTurnsMax};
    const double rank_turns = double{kRanks} * load.messages * load.turns;
    const auto [ours, polled] =
        in_turns(load, quick ? 1 : 5, [](Bench& bench) { return bench.run(); });
    print(fmt::format("{:>6} B   {:>10.0f} {:>12.0f} {:>7.1f}", count * sizeof(float),
                      rank_turns / ours, rank_turns / polled, polled / ours));
  }
}

// Each input is read once, each output written once, by all cores at the rates of the memory.
void bench_large(bool quick) {
  constexpr int kRanks = 4;
  const std::uint64_t bytes = quick ? bench::kMebi : 16 * bench::kMebi;
  bench::Effort effort;
  if (quick) effort = {.rounds = 1, .bytes_per_run = 1, .memory_bytes = bench::kMebi};
  const bench::MemoryRates rates = bench::measure_memory(2, effort.memory_bytes, effort);
  print(
      fmt::format("\n4 ranks, {} MiB a rank, 2 threads read {:.1f}, write {:.1f}, copy {:.1f} GB/s "
                  "(both ways)\n",
                  bytes / bench::kMebi, rates.read / 1e9, rates.write / 1e9, rates.copy / 1e9));
  print(fmt::format("{:<11} {:>10} {:>10} {:>7}", "", "ours", "limit", "ratio"));
  for (const Command command : {Command::kAllGather, Command::kAllReduce}) {
    Bench bench({.command = command,
                 .ranks = kRanks,
                 .count = bytes / sizeof(float),
                 .messages = quick ? 2U : 21U,
                 .turns = 1});
    bench.run();
    const double read = static_cast<double>(bytes) * kRanks;
    const double written = command == Command::kAllGather ? read * kRanks : read;
    const double limit =
        std::max({read / rates.read, written / rates.write, (read + written) / rates.copy});
    print(fmt::format("{:<11} {:>7.2f} ms {:>7.2f} ms {:>5.0f} %", name(command),
                      1e3 * bench.period(), 1e3 * limit, 100 * limit / bench.period()));
  }
}

}  // namespace
}  // namespace commrig::mc2

int main(int argc, char** argv) {
  bool quick = false;
  for (int i = 1; i < argc; ++i) quick |= std::string_view(argv[i]).starts_with("--benchmark_");
  commrig::mc2::bench_latency(quick);
  commrig::mc2::bench_many_ranks(quick);
  commrig::mc2::bench_large(quick);
}
