// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// What a message costs on each kind of link, between two threads or two processes, beside memcpy
// and a bare socket: half the time of a round trip, and the rate of a stream of large messages.
// With any --benchmark_ option, as `./rig bench --quick` gives, everything is small.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/check.h"
#include "base/thread_executor.h"
#include "base/unix_socket.h"
#include "transport/shm_link.h"
#include "transport/tcp_link.h"
#include "transport/thread_link.h"

namespace commrig::transport {
namespace {

using Bytes = std::vector<std::byte>;

struct Load {
  std::size_t bytes;
  int rounds;
  bool echoes;  // else they go one way
};

std::vector<Load> loads(bool quick) {
  const int scale = quick ? 50 : 1;
  return {{8, 20'000 / scale, true},
          {4096, 20'000 / scale, true},
          {64 * 1024, 10'000 / scale, true},
          {64 * 1024, 20'000 / scale, false},
          {std::size_t{1} << 20U, 2'000 / scale, false},
          {std::size_t{16} << 20U, 100 / scale, false}};
}

void print(const std::string& line) {
  fmt::print("{}\n", line);  // tidy: allow(print) a benchmark's table is its result
}

template <class T>
T must(Result<T> result) {
  COMMRIG_CHECK(result.has_value(), to_string(result.error()));
  return std::move(result).value();
}

// One of the two ranks: how it sends and receives whole messages.
struct Rank {
  std::function<void(std::span<const std::byte>)> send;
  std::function<void(std::span<std::byte>)> recv;
  std::span<std::byte> buffer;  // what it sends
};

// Both ranks play all loads; the first one gives microseconds per message.
std::vector<double> play(const Rank& rank, bool first, const std::vector<Load>& loads) {
  const RealClock clock;
  std::vector<double> times;
  Bytes target(loads.back().bytes);
  for (const Load& load : loads) {
    const auto out = rank.buffer.first(load.bytes);
    const auto in = std::span(target).first(load.bytes);
    const Nanos begin = clock.now();
    for (int round = 0; round < load.rounds; ++round) {
      if (first) rank.send(out);
      if (!first || load.echoes) rank.recv(in);
      if (!first && load.echoes) rank.send(out);
    }
    // All have arrived.
    const auto end = std::span(target).first(1);
    if (first) rank.recv(end);
    if (!first) rank.send(end);
    const double total = std::chrono::duration<double, std::micro>(clock.now() - begin).count();
    times.push_back(total / load.rounds / (load.echoes ? 2 : 1));
  }
  return times;
}

void print_row(const std::string& name, const std::vector<Load>& loads,
               const std::vector<double>& times) {
  std::string line = fmt::format("{:<24}", name);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    line += loads[i].echoes ? fmt::format("{:>9.2f} us", times[i])
                            : fmt::format("{:>7.2f} GB/s",
                                          1e-3 * static_cast<double>(loads[i].bytes) / times[i]);
  }
  print(line);
}

// A process that has nothing to do but this link: it sleeps at its door.
class Process {
 public:
  explicit Process(Door& door) : door_(door), waker_(door) { executor_.use_door(&door, door); }
  Waker& waker() { return waker_; }
  Executor& executor() { return executor_; }

  void until_done(FunctionRef<Result<Progress>()> step) {
    while (true) {
      const std::uint64_t seen = door_.rung.load(std::memory_order_acquire);
      if (must(step()) == Progress::kDone) return;
      const auto rung = [&] { return door_.rung.load(std::memory_order_acquire) != seen; };
      must(executor_.wait({.key = &door_, .ready = rung}));
    }
  }
  Rank rank(Link& link, std::span<std::byte> buffer) {
    return {.send =
                [this, &link](std::span<const std::byte> bytes) {
                  Outgoing message{.data = bytes.data(), .bytes = bytes.size()};
                  until_done([&] { return link.send(message); });
                },
            .recv =
                [this, &link](std::span<std::byte> bytes) {
                  Incoming message{.data = bytes.data(), .bytes = bytes.size()};
                  until_done([&] { return link.recv(message); });
                },
            .buffer = buffer};
  }

 private:
  Door& door_;
  DoorWaker waker_;
  ThreadExecutor executor_;
};

void bench_threads(const std::vector<Load>& loads) {
  std::array<Door, 2> doors;
  Process one(doors[0]);
  Process other(doors[1]);
  const auto ends = make_thread_link({0, one.waker()}, {1, other.waker()});
  Bytes buffers[2] = {Bytes(loads.back().bytes), Bytes(loads.back().bytes)};
  ThreadExecutor executor;
  std::atomic<bool> ended{false};
  must(executor.spawn(Role::kUserCode, "rank 1", [&] {
    play(other.rank(*ends.second, buffers[1]), false, loads);
    ended = true;
    executor.wake(&ended);
  }));
  print_row("thread", loads, play(one.rank(*ends.first, buffers[0]), true, loads));
  must(executor.wait({.key = &ended, .ready = [&] { return ended.load(); }}));
}

// Runs rank 1 in a process of its own.
void bench_processes(const std::string& name, const std::vector<Load>& loads,
                     std::pair<Socket, Socket> sockets,
                     const std::function<std::vector<double>(int rank, Socket socket)>& part) {
  allow_readers();
  const pid_t child = ::fork();
  COMMRIG_CHECK(child >= 0, "fork failed");
  if (child == 0) {
    sockets.first.close();
    part(1, std::move(sockets.second));
    ::_exit(0);  // tidy: allow(exit) a forked child must not run the parent's ends
  }
  sockets.second.close();
  print_row(name, loads, part(0, std::move(sockets.first)));
  COMMRIG_CHECK(::waitpid(child, nullptr, 0) == child, "the child was not reaped");
}

struct Way {
  const char* name;
  bool in_arena;
  bool maps_arenas;
  bool reads_host;
};

std::vector<double> play_shm(int number, Socket socket, const Way& way,
                             const std::vector<Load>& loads) {
  allow_readers();
  device::Memory memory{device::MemoryOptions{}};
  const Segment door_segment = must(Segment::create("door", sizeof(Door)));
  Door& door = *new (door_segment.base()) Door;
  Process process(door);
  const auto peer = must(PeerMemory::create({.rank = 1 - number,
                                             .socket = std::move(socket),
                                             .memory = &memory,
                                             .door = &door_segment,
                                             .maps_arenas = way.maps_arenas,
                                             .reads_host = way.reads_host}));
  while (!must(peer->meet())) {
  }
  std::optional<Segment> segment;
  if (number == 0) {
    segment = must(make_shm_segment());
    must(peer->give({}, *segment));
  }
  while (!segment.has_value()) segment = must(peer->take({}));
  const auto link =
      must(make_shm_link(std::move(*segment), {.ends = {.rank = number, .peer = 1 - number},
                                               .side = number,
                                               .peer = *peer,
                                               .waker = process.waker()}));
  const std::size_t bytes = loads.back().bytes;
  Bytes host(way.in_arena ? 0 : bytes);
  std::span<std::byte> buffer = host;
  if (way.in_arena) buffer = {static_cast<std::byte*>(must(memory.allocate(0, bytes))), bytes};
  std::ranges::fill(buffer, std::byte{1});
  return play(process.rank(*link, buffer), number == 0, loads);
}

std::vector<double> play_tcp(int number, Socket socket, const std::vector<Load>& loads) {
  Door door;
  Process process(door);
  const auto poller = must(Poller::start(process.executor()));
  const auto link = must(TcpLink::create({.ends = {.rank = number, .peer = 1 - number},
                                          .socket = std::move(socket),
                                          .poller = *poller,
                                          .waker = process.waker()}));
  Bytes buffer(loads.back().bytes, std::byte{1});
  return play(process.rank(*link, buffer), number == 0, loads);
}

std::vector<double> play_socket(int number, const Socket& socket, const std::vector<Load>& loads) {
  ThreadExecutor executor;
  const Waiting waiting{.executor = executor};
  Bytes buffer(loads.back().bytes, std::byte{1});
  const Rank rank{.send = [&](auto bytes) { must(socket.write_all(bytes, "a message", waiting)); },
                  .recv = [&](auto bytes) { must(socket.read_all(bytes, "a message", waiting)); },
                  .buffer = buffer};
  return play(rank, number == 0, loads);
}

std::pair<Socket, Socket> loopback() {
  ThreadExecutor executor;
  const Waiting waiting{.executor = executor};
  const Listener listener = must(Listener::open(Address::loopback(AF_INET)));
  Socket one = must(connect(listener.address(), waiting));
  return {std::move(one), must(listener.accept("the benchmark", waiting))};
}

void bench_copy(const std::vector<Load>& loads) {
  Bytes source(loads.back().bytes, std::byte{1});
  Bytes target(loads.back().bytes, std::byte{2});
  const RealClock clock;
  std::vector<double> times;
  for (const Load& load : loads) {
    const Nanos begin = clock.now();
    for (int i = 0; i < load.rounds; ++i) {
      std::memcpy(target.data(), source.data(), load.bytes);
      asm volatile("" : : "r"(target.data()) : "memory");  // NOLINT(hicpp-no-assembler)
    }
    const double total = std::chrono::duration<double, std::micro>(clock.now() - begin).count();
    times.push_back(total / load.rounds);
  }
  print_row("memcpy, one thread", loads, times);
}

void bench(bool quick) {
  const std::vector<Load> all = loads(quick);
  std::string head = fmt::format("{:<24}", "");
  for (const Load& load : all) {
    head +=
        fmt::format("{:>12}", load.bytes < 1024        ? fmt::format("{} B", load.bytes)
                              : load.bytes < (1 << 20) ? fmt::format("{} KiB", load.bytes >> 10U)
                                                       : fmt::format("{} MiB", load.bytes >> 20U));
  }
  print(head);
  bench_copy(all);
  bench_threads(all);
  for (const Way& way :
       {Way{"shm, device memory", true, true, false}, Way{"shm, host memory", false, false, true},
        Way{"shm, staged", false, false, false}}) {
    bench_processes(way.name, all, must(unix_pair()), [&](int rank, Socket socket) {
      return play_shm(rank, std::move(socket), way, all);
    });
  }
  bench_processes("tcp, loopback", all, loopback(),
                  [&](int rank, Socket socket) { return play_tcp(rank, std::move(socket), all); });
  bench_processes("bare socket, loopback", all, loopback(),
                  [&](int rank, const Socket& socket) { return play_socket(rank, socket, all); });
}

}  // namespace
}  // namespace commrig::transport

int main(int argc, char** argv) {
  bool quick = false;
  for (int i = 1; i < argc; ++i) quick |= std::string_view(argv[i]).starts_with("--benchmark_");
  commrig::transport::bench(quick);
}
