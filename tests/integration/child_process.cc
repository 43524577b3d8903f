// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "tests/integration/child_process.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
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
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // Nobody is left behind by a test that crashed.
    near.close();
    run(far, body);
    ::_exit(0);
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

}  // namespace commrig::integration
