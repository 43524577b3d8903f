// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "transport/peers.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/process.h"

namespace commrig::transport {
namespace {

// From wait(2)'s status word.
std::string describe_status(int status) {
  if (WIFSIGNALED(status)) return fmt::format("was killed by signal {}", WTERMSIG(status));
  return fmt::format("ended with exit code {}", WEXITSTATUS(status));
}

// A child of ours, which stays to be reaped by whoever started it.
std::optional<std::string> ask_wait(int pidfd) {
  constexpr auto kPidFd = static_cast<idtype_t>(3);  // P_PIDFD of Linux 5.4
  siginfo_t info{};
  if (::waitid(kPidFd, static_cast<id_t>(pidfd), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  if (info.si_code == CLD_EXITED) return fmt::format("ended with exit code {}", info.si_status);
  return fmt::format("was killed by signal {}", info.si_status);
}

// Anybody's process that was reaped, from Linux 6.15 on.
std::optional<std::string> ask_pidfd(int pidfd) {
  struct Info {  // struct pidfd_info of the kernel's interface, in its first form
    std::uint64_t mask = 0;
    std::uint64_t cgroup = 0;
    std::uint32_t ids[11] = {};
    std::int32_t exit_code = 0;
    std::uint32_t coredump[2] = {};
  };
  constexpr std::uint64_t kExit = 8;
  Info info;
  info.mask = kExit;
  if (::ioctl(pidfd, _IOWR(0xFF, 11, Info), &info) != 0 || (info.mask & kExit) == 0) {
    return std::nullopt;
  }
  return describe_status(info.exit_code);
}

// Anybody's process of this user that was not reaped: the last word of /proc/PID/stat.
std::optional<std::string> ask_proc(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));
  std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(text.substr(name_end + 1));
  std::string state;
  words >> state;
  std::string last;
  for (std::string word; words >> word;) last = word;
  // Another process may have the number by now; that one lives.
  if ((state != "Z" && state != "X") || last.empty()) return std::nullopt;
  return describe_status(std::atoi(last.c_str()));
}

}  // namespace

std::string describe_end(int pidfd, pid_t process) {
  if (auto text = ask_wait(pidfd)) return *text;
  if (auto text = ask_proc(process)) return *text;
  if (auto text = ask_pidfd(pidfd)) return *text;
  return "ended";
}

// One peer. The pidfd and the connection tell of the same end; the first one counts.
class Peers::Watch final : public PollHandler {
 public:
  Watch(Poller& poller, const WatchedPeer& peer, OnLost on_lost)
      : poller_(poller), peer_(peer), on_lost_(std::move(on_lost)) {}
  ~Watch() override {
    if (pidfd_) poller_.remove(pidfd_.get());
    if (peer_.socket >= 0) poller_.remove(peer_.socket);
  }

  Status begin() {
    if (peer_.process != 0) {
      auto pidfd = watch_process(peer_.process);
      if (!pidfd && ::kill(peer_.process, 0) != 0 && errno == ESRCH) {
        report("has ended before");
        return ok();
      }
      if (!pidfd) return pidfd.error();
      pidfd_ = std::move(*pidfd);
      COMMRIG_TRY(poller_.add(pidfd_.get(), *this));
      poller_.arm(pidfd_.get(), EPOLLIN);
      return ok();
    }
    COMMRIG_TRY(poller_.add(peer_.socket, *this));
    poller_.arm(peer_.socket, EPOLLRDHUP);
    return ok();
  }

  void on_ready(std::uint32_t /*events*/) override {
    report(pidfd_ ? describe_end(pidfd_.get(), peer_.process) : "has closed its connection");
  }

 private:
  void report(const std::string& how) {
    if (reported_.exchange(true)) return;
    const std::string who = peer_.process != 0
                                ? fmt::format("rank {} (process {})", peer_.rank, peer_.process)
                                : fmt::format("rank {}", peer_.rank);
    on_lost_(peer_, Error::make(Code::kPeerLost, who + " " + how));
  }

  Poller& poller_;
  WatchedPeer peer_;
  OnLost on_lost_;
  Descriptor pidfd_;
  std::atomic<bool> reported_{false};
};

Peers::Peers(Poller& poller) : poller_(poller) {}

Peers::~Peers() = default;

Status Peers::watch(const WatchedPeer& peer, OnLost on_lost) {
  if (peer.process == 0 && peer.socket < 0) {
    return Error::make(Code::kBadArgument,
                       fmt::format("rank {} has neither a process nor a connection that could be "
                                   "watched",
                                   peer.rank));
  }
  auto watch = std::make_unique<Watch>(poller_, peer, std::move(on_lost));
  Watch& added = *watch;
  (*watches_.lock())[peer.rank] = std::move(watch);
  return added.begin();
}

void Peers::forget(int rank) {
  std::unique_ptr<Watch> watch;
  {
    const auto watches = watches_.lock();
    const auto found = watches->find(rank);
    if (found == watches->end()) return;
    watch = std::move(found->second);
    watches->erase(found);
  }
}

}  // namespace commrig::transport
