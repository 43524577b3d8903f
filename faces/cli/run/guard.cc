// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <set>
#include <system_error>
#include <utility>

namespace commrig::cli::run {
namespace {

Error refused(const char* call) {
  return Error::make(
      Code::kSystemCall,
      std::string(call) + ": " + std::error_code(errno, std::generic_category()).message());
}

// Nobody waits for the end of a pipe because of this process.
void close_all_but(int kept) {
  if (kept > 0) ::close_range(0, static_cast<unsigned>(kept) - 1, 0);
  ::close_range(static_cast<unsigned>(kept) + 1, ~0U, 0);
}

void watch_over(int line) {
  std::set<pid_t> groups;
  pid_t word = 0;
  while (true) {
    const ssize_t count = ::read(line, &word, sizeof(word));
    if (count < 0 && errno == EINTR) continue;
    if (count != sizeof(word)) break;
    if (word > 0) groups.insert(word);
    if (word < 0) groups.erase(-word);
  }
  for (const pid_t group : groups) ::kill(-group, SIGKILL);
}

}  // namespace

Result<Guard> Guard::start() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return refused("pipe2");
  Descriptor reader(ends[0]);
  Descriptor writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return refused("fork");
  if (child == 0) {
    ::setsid();
    ::prctl(PR_SET_NAME, "commrig-guard");
    for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(each, SIG_IGN);
    close_all_but(reader.get());
    watch_over(reader.get());
    ::_exit(0);  // tidy: allow(exit) a child that was forked
  }
  return Guard(child, std::move(writer));
}

Guard::Guard(Guard&& other) noexcept
    : process_(std::exchange(other.process_, -1)), line_(std::move(other.line_)) {}

Guard::~Guard() {
  if (process_ <= 0) return;
  line_.reset();
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Guard::tell(pid_t word) const {
  (void)!::write(line_.get(), &word, sizeof(word));
}

}  // namespace commrig::cli::run
