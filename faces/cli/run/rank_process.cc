// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/rank_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace commrig::cli::run {
namespace {

std::string text_of(int number) {
  return std::error_code(number, std::generic_category()).message();
}

struct Pipe {
  Descriptor reader;
  Descriptor writer;
};

Result<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return Error::make(Code::kSystemCall, "pipe2: " + text_of(errno));
  }
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The program as the system wants it, made before the fork.
struct Image {
  Image(const std::vector<std::string>& program, const Variables& environment)
      : words(program), variables(environment) {}
  std::vector<std::string> words;
  Variables variables;
  std::vector<char*> argv = pointers_to(words);
  std::vector<char*> envp = pointers_to(variables);

  // Returns the error number.
  int load() const {
    ::execvpe(argv.front(), argv.data(), envp.data());
    return errno;
  }
};

Error not_started(const std::string& program, int number) {
  const bool mistake = number == ENOENT || number == EACCES || number == ENOTDIR ||
                       number == ENOEXEC || number == EISDIR || number == E2BIG ||
                       number == ELOOP || number == ENAMETOOLONG;
  return Error::make(mistake ? Code::kBadArgument : Code::kSystemCall,
                     fmt::format("cannot start {}: {}", program, text_of(number)));
}

// What a signal does in the program is what it does without us.
void reset_signals() {
  for (const int each : {SIGPIPE, SIGINT, SIGTERM, SIGHUP, SIGQUIT}) ::signal(each, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// What the child does; only calls that are allowed between fork and exec.
struct ChildSide {
  const Image& image;
  const StartSpec& spec;
  pid_t parent;
  int output;
  int error;
  int failure;

  [[noreturn]] void run() const {
    if (spec.own_group) ::setpgid(0, 0);
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const bool orphan = ::getppid() != parent;  // The signal would never come.
    int number = ESRCH;
    if (!orphan && connect_streams()) {
      reset_signals();
      number = image.load();
    } else if (!orphan) {
      number = errno;
    }
    (void)!::write(failure, &number, sizeof(number));
    ::_exit(127);  // tidy: allow(exit) a child that was forked
  }

  bool connect_streams() const {
    if (!spec.reads_input) {
      const int empty = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (empty < 0 || ::dup2(empty, STDIN_FILENO) < 0) return false;
    }
    return !spec.piped || (::dup2(output, STDOUT_FILENO) >= 0 && ::dup2(error, STDERR_FILENO) >= 0);
  }
};

void make_non_blocking(const Descriptor& descriptor) {
  ::fcntl(descriptor.get(), F_SETFL, O_NONBLOCK);  // Our end alone: pipes have two of them.
}

}  // namespace

Result<RankProcess> RankProcess::start(const StartSpec& spec) {
  COMMRIG_ASSIGN(Pipe output, make_pipe());
  COMMRIG_ASSIGN(Pipe error, make_pipe());
  COMMRIG_ASSIGN(Pipe failure, make_pipe());
  const Image image(spec.program, spec.environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return Error::make(Code::kSystemCall, "fork: " + text_of(errno));
  if (child == 0) {
    ChildSide{image, spec, parent, output.writer.get(), error.writer.get(), failure.writer.get()}
        .run();
  }
  if (spec.own_group) ::setpgid(child, child);  // Both sides do it, since either may be first.
  failure.writer.reset();
  RankProcess started;
  started.process_ = child;
  started.own_group_ = spec.own_group;
  int number = 0;
  if (::read(failure.reader.get(), &number, sizeof(number)) == sizeof(number)) {
    started.reap();
    return not_started(spec.program.front(), number);
  }
  if (spec.piped) {
    make_non_blocking(output.reader);
    make_non_blocking(error.reader);
    started.output_ = std::move(output.reader);
    started.error_ = std::move(error.reader);
  }
  return started;
}

std::optional<End> RankProcess::ended() const {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(process_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0) {
    return std::nullopt;
  }
  return End{.by_signal = info.si_code != CLD_EXITED, .number = info.si_status};
}

void RankProcess::signal(int number) const {
  ::kill(own_group_ ? -process_ : process_, number);
}

void RankProcess::reap() const {
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Error become(const std::vector<std::string>& program, const Variables& environment) {
  const Image image(program, environment);
  return not_started(program.front(), image.load());
}

}  // namespace commrig::cli::run
