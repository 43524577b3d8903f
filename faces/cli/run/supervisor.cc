// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/supervisor.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "faces/cli/run/course.h"
#include "faces/cli/run/guard.h"
#include "faces/cli/run/leftovers.h"
#include "faces/cli/run/lines.h"
#include "faces/cli/run/output.h"
#include "faces/cli/run/rank_process.h"

namespace commrig::cli::run {
namespace {

constexpr std::array kPassedOn{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

Error refused(const char* call) {
  return Error::make(
      Code::kSystemCall,
      fmt::format("{}: {}", call, std::error_code(errno, std::generic_category()).message()));
}

// Signals as something that can be polled for; they do nothing else from now on.
Result<Descriptor> take_signals() {
  sigset_t all;
  ::sigemptyset(&all);
  ::sigaddset(&all, SIGCHLD);
  for (const int each : kPassedOn) ::sigaddset(&all, each);
  if (::sigprocmask(SIG_BLOCK, &all, nullptr) != 0) return refused("sigprocmask");
  ::signal(SIGPIPE, SIG_IGN);
  Descriptor descriptor(::signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!descriptor) return refused("signalfd");
  return descriptor;
}

// What one rank writes into one of its streams.
struct Stream {
  Descriptor* from;
  int to;
  Lines lines;
};

class Supervisor {
 public:
  Supervisor(const JobSpec& spec, const Clock& clock, Descriptor signals, Guard guard)
      : spec_(spec), clock_(clock), signals_(std::move(signals)), guard_(std::move(guard)) {}
  ~Supervisor();
  Supervisor(const Supervisor&) = delete;
  Supervisor& operator=(const Supervisor&) = delete;

  Status start();
  JobEnd run();

 private:
  int ranks() const { return static_cast<int>(spec_.processes.size()); }
  bool interactive() const { return !spec_.tags && ranks() == 1 && ::isatty(STDIN_FILENO) == 1; }
  void wait();
  void read_signals();
  void look_at_ranks();
  void obey();
  void read(Stream& stream);
  void end_everything();
  void write_the_rest();

  const JobSpec& spec_;
  const Clock& clock_;
  Descriptor signals_;
  Guard guard_;
  std::vector<RankProcess> processes_;
  std::vector<Stream> streams_;
  std::optional<Course> course_;
  Output output_;
};

Status Supervisor::start() {
  const int width = static_cast<int>(std::to_string(ranks() - 1).size());
  const bool shares_input = ranks() == 1 || ::isatty(STDIN_FILENO) == 0;
  processes_.reserve(spec_.processes.size());  // Streams point to their descriptors.
  for (int rank = 0; rank < ranks(); ++rank) {
    COMMRIG_ASSIGN(RankProcess process,
                   RankProcess::start(
                       {.program = spec_.program,
                        .environment = spec_.processes[static_cast<std::size_t>(rank)].environment,
                        .piped = spec_.tags,
                        .reads_input = rank == 0 && shares_input,
                        .own_group = !interactive()}));
    if (!interactive()) guard_.watch(process.process());
    processes_.push_back(std::move(process));
    if (!spec_.tags) continue;
    const std::string tag = fmt::format("[{:>{}}] ", rank, width);
    streams_.push_back({&processes_.back().output(), STDOUT_FILENO, Lines(tag)});
    streams_.push_back({&processes_.back().error(), STDERR_FILENO, Lines(tag)});
  }
  std::vector<Course::Member> members;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    members.push_back({processes_[i].process(), spec_.processes[i].ranks});
  }
  course_.emplace(std::move(members), clock_.now(), spec_.timeout);
  return ok();
}

JobEnd Supervisor::run() {
  const Nanos begin = clock_.now();
  look_at_ranks();
  obey();
  while (!course_->over()) {
    wait();
    read_signals();
    look_at_ranks();
    course_->on_time(clock_.now());
    obey();
  }
  end_everything();
  for (Stream& stream : streams_) {
    read(stream);
    output_.add(stream.to, stream.lines.finish());
  }
  write_the_rest();
  return {.exit_code = course_->exit_code(),
          .took = clock_.now() - begin,
          .done = {},
          .lost_output = output_.failure()};
}

// Until something happens; then moves what ranks have written.
void Supervisor::wait() {
  std::vector<pollfd> polls{{.fd = signals_.get(), .events = POLLIN, .revents = 0},
                            {.fd = output_.descriptor(), .events = POLLOUT, .revents = 0}};
  for (const Stream& stream : streams_) {
    polls.push_back(
        {.fd = output_.full() ? -1 : stream.from->get(), .events = POLLIN, .revents = 0});
  }
  const Nanos next = course_->next_time();
  int timeout_ms = -1;
  if (next != kForever) {
    const Nanos left = std::max(Nanos::zero(), next - clock_.now());
    constexpr std::int64_t kMost = 3'600'000;
    timeout_ms = static_cast<int>(std::min(kMost, left.count() / 1'000'000 + 1));
  }
  if (::poll(polls.data(), polls.size(), timeout_ms) <= 0) return;
  if (polls[1].revents != 0) output_.write_some();
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    if (polls[i + 2].revents != 0) read(streams_[i]);
  }
}

void Supervisor::read_signals() {
  signalfd_siginfo info{};
  while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
    const int number = static_cast<int>(info.ssi_signo);
    if (number == SIGCHLD) continue;
    // What a terminal sends has gone to a rank of our group too.
    const bool from_terminal = info.ssi_code == SI_KERNEL;
    if (from_terminal && interactive()) continue;
    course_->on_signal(number, clock_.now());
  }
}

// Of those that have ended by now, one that was killed is the cause rather than one that noticed.
void Supervisor::look_at_ranks() {
  std::map<int, End> ended;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!course_->running(rank)) continue;
    const auto end = processes_[static_cast<std::size_t>(rank)].ended();
    if (end) ended.emplace(rank, *end);
  }
  for (const bool by_signal : {true, false}) {
    for (const auto& [rank, end] : ended) {
      if (end.by_signal == by_signal) course_->on_end(rank, end, clock_.now());
    }
  }
}

void Supervisor::obey() {
  if (const auto finding = course_->take_finding()) {
    output_.add(STDERR_FILENO, "commrig: " + to_string(*finding) + "\n");
  }
  for (const int number : course_->take_signals()) {
    for (int rank = 0; rank < ranks(); ++rank) {
      if (course_->running(rank)) processes_[static_cast<std::size_t>(rank)].signal(number);
    }
  }
}

void Supervisor::read(Stream& stream) {
  std::vector<char> bytes(std::size_t{1} << 16U);  // apart: the stack may be small
  while (*stream.from) {
    const ssize_t count = ::read(stream.from->get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0 || output_.closed(stream.to)) {
      stream.from->reset();  // A rank whose reader has gone learns it as without us.
      return;
    }
    output_.add(stream.to, stream.lines.add({bytes.data(), static_cast<std::size_t>(count)}));
    if (output_.full() && !course_->over()) return;
  }
}

// Groups of ranks that have ended may have others in them still.
void Supervisor::end_everything() {
  for (const RankProcess& each : processes_) {
    each.signal(SIGKILL);
    guard_.forget(each.process());
    each.reap();
  }
  end_leftovers(guard_.process());
}

// As long as somebody reads it, or asks for the end.
void Supervisor::write_the_rest() {
  while (!output_.empty()) {
    std::array<pollfd, 2> polls{
        pollfd{.fd = signals_.get(), .events = POLLIN, .revents = 0},
        pollfd{.fd = output_.descriptor(), .events = POLLOUT, .revents = 0}};
    if (::poll(polls.data(), polls.size(), -1) < 0 && errno != EINTR) return;
    if (polls[1].revents != 0) {
      output_.write_some();
      continue;
    }
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
      if (info.ssi_signo != static_cast<unsigned>(SIGCHLD)) return;
    }
  }
}

// A start that failed half way leaves nobody.
Supervisor::~Supervisor() {
  if (course_ && course_->over()) return;
  end_everything();
}

}  // namespace

Result<JobEnd> run_job(const JobSpec& spec, const Clock& clock) {
  COMMRIG_ASSIGN(Descriptor signals, take_signals());
  adopt_orphans();
  COMMRIG_ASSIGN(Guard guard, Guard::start());
  Supervisor supervisor(spec, clock, std::move(signals), std::move(guard));
  COMMRIG_TRY(supervisor.start());
  return supervisor.run();
}

}  // namespace commrig::cli::run
