// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/wait_file.h"

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/descriptor.h"
#include "faces/cli/ranktable/table_file.h"
#include "topo/form.h"
#include "topo/json_document.h"

namespace commrig::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kLinksMax = 40;  // as many as the system follows

// The folders in which a change can change what `path` names: that of the path itself, and those of
// every link on the way. Of folders that are absent, the nearest one above.
std::set<fs::path> folders_on_the_way(const std::string& path) {
  std::set<fs::path> folders;
  std::error_code error;
  fs::path rest = fs::absolute(path, error).lexically_normal();
  for (int links = 0; links <= kLinksMax; ++links) {
    fs::path walked;
    bool followed = false;
    for (auto part = rest.begin(); part != rest.end(); ++part) {
      const fs::path here = walked / *part;
      if (!fs::exists(fs::symlink_status(here, error))) {
        folders.insert(walked);
        return folders;
      }
      if (fs::is_symlink(here, error)) {
        folders.insert(walked);
        fs::path next = walked / fs::read_symlink(here, error);
        for (++part; part != rest.end(); ++part) next /= *part;
        rest = next.lexically_normal();
        followed = true;
        break;
      }
      walked = here;
    }
    if (followed) continue;
    folders.insert(walked.parent_path());
    return folders;
  }
  return folders;
}

class Watch {
 public:
  static Result<Watch> open() {
    Descriptor file(inotify_init1(IN_NONBLOCK | IN_CLOEXEC));
    if (file) return Watch(std::move(file));
    return Error::make(Code::kSystemCall,
                       "inotify_init1: " + std::generic_category().message(errno));
  }

  // Watching a folder again changes nothing. Where it is refused, the re-check has to do.
  void watch(const std::set<fs::path>& folders) {
    constexpr std::uint32_t kChanges = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO |
                                       IN_CLOSE_WRITE | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF;
    for (const fs::path& folder : folders) {
      (void)inotify_add_watch(file_.get(), folder.c_str(), kChanges);
    }
  }

  // Until something changes or `timeout_ms` has passed.
  void sleep(int timeout_ms) {
    pollfd waiting{.fd = file_.get(), .events = POLLIN, .revents = 0};
    (void)poll(&waiting, 1, timeout_ms);
    std::array<char, 4096> events{};
    while (read(file_.get(), events.data(), events.size()) > 0) {
    }
  }

 private:
  explicit Watch(Descriptor file) : file_(std::move(file)) {}
  Descriptor file_;
};

}  // namespace

std::string why_not_completed(const std::string& path) {
  const Result<std::string> text = read_table_file(path);
  if (!text) return text.error().message;
  if (text->empty()) return "the file is empty";
  const topo::JsonDocument document = topo::JsonDocument::parse(*text);
  for (const topo::SyntaxFault& fault : document.faults()) {
    if (fault.kind == topo::SyntaxKind::kDuplicateKey ||
        fault.kind == topo::SyntaxKind::kTextAfterEnd) {
      continue;
    }
    const topo::Position place = document.position(fault.span.begin);
    return fmt::format("it is no JSON at {}:{} ({})", place.line, place.column, fault.what);
  }
  const topo::Form form = topo::recognise(document);
  if (!topo::is_rank_table(form)) return fmt::format("it is no rank table: {}", describe(form));
  // 2.0 is ready when it is there.
  const topo::Node status = document.member(document.root(), "status");
  if (form == topo::Form::kV20 && status == topo::kNoNode) return "";
  if (!document.is(status, topo::JsonKind::kString)) return "it has no status";
  if (document.text(status) == "completed") return "";
  return fmt::format("its status is \"{}\"", document.text(status));
}

Status wait_completed(const std::string& path, const Clock& clock, const WaitOptions& options) {
  COMMRIG_ASSIGN(Watch watch, Watch::open());
  const Nanos start = clock.now();
  for (;;) {
    // Watched first, looked at then: a change in between ends the sleep.
    if (options.notify) watch.watch(folders_on_the_way(path));
    const std::string why = why_not_completed(path);
    if (why.empty()) return ok();
    const Nanos waited = clock.now() - start;
    if (waited >= options.deadline) {
      return Error::make(Code::kDeadline,
                         fmt::format("{} was not completed in {} s: {}", path,
                                     std::chrono::duration<double>(options.deadline).count(), why));
    }
    if (options.before_sleep) options.before_sleep();
    const Nanos sleep = std::min(options.recheck, options.deadline - waited);
    const auto millis = std::chrono::ceil<std::chrono::milliseconds>(sleep).count();
    watch.sleep(static_cast<int>(std::min<long long>(millis, 1'000'000'000)));
  }
}

}  // namespace commrig::cli
