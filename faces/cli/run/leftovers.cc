// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/leftovers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <fstream>
#include <vector>

namespace commrig::cli::run {
namespace {

// Nothing where the kernel does not list them.
std::vector<pid_t> children() {
  std::ifstream list("/proc/thread-self/children");
  std::vector<pid_t> found;
  for (pid_t each = 0; list >> each;) found.push_back(each);
  return found;
}

}  // namespace

void adopt_orphans() {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void end_leftovers(pid_t spared) {
  bool more = true;
  while (more) {
    more = false;
    for (const pid_t each : children()) {
      if (each == spared) continue;
      ::kill(each, SIGKILL);
      more = ::waitpid(each, nullptr, 0) == each || more;
    }
  }
}

}  // namespace commrig::cli::run
