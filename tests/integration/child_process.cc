// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "base/unix_socket.h"

namespace commrig::integration {
namespace {

void write_text(const Socket& line, const std::string& text, ThreadExecutor& executor) {
  const std::uint64_t length = text.size();
  (void)line.write_all(std::as_bytes(std::span(&length, 1)), "a length", {executor});
  (void)line.write_all(std::as_bytes(std::span(text)), "a text", {executor});
}

void run(const Socket& line, const ChildProcess::Body& body) {
  ThreadExecutor executor;
  bootstrap::UniqueId::Bytes bytes{};
  if (!line.read_all(bytes, "an id", {executor})) return;
  ChildProcess::Context context{
      executor, *bootstrap::UniqueId::from_bytes(bytes),
      [&line, &executor](const std::string& text) { write_text(line, text, executor); }};
  context.say(body(context));
}

}  // namespace

ChildProcess::ChildProcess(const Body& body) {
  auto [near, far] = *unix_pair();
  std::fflush(nullptr);  // or the child says it again when it exits
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Nobody is left behind by a test that crashed.
    near.close();
    run(far, body);
    far.close();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe) its threads have ended
  }
  line_ = std::move(near);
}

ChildProcess::~ChildProcess() {
  if (process_ <= 0) return;  // moved from
  kill();
  ::waitpid(process_, nullptr, 0);
}

void ChildProcess::kill() const {
  ::kill(process_, SIGKILL);
}

void ChildProcess::start(ThreadExecutor& executor, const bootstrap::UniqueId& id) const {
  (void)line_.write_all(id.bytes(), "an id", {executor});
}

std::string ChildProcess::hear(ThreadExecutor& executor) const {
  std::uint64_t length = 0;
  if (!line_.read_all(std::as_writable_bytes(std::span(&length, 1)), "a length", {executor})) {
    return {};
  }
  std::string text(length, '\0');
  if (!line_.read_all(std::as_writable_bytes(std::span(text)), "a text", {executor})) return {};
  return text;
}

std::string ChildProcess::finish(ThreadExecutor& executor) const {
  const std::string text = hear(executor);
  siginfo_t end{};
  if (::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | WNOWAIT) != 0) {
    return text + " (it can't be waited for)";
  }
  if (end.si_code == CLD_EXITED && end.si_status == 0) return text;
  const char* const how = end.si_code == CLD_EXITED ? " (exit code " : " (signal ";
  return text + how + std::to_string(end.si_status) + ")";
}

}  // namespace commrig::integration
