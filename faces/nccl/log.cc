// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/nccl/log.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "base/guarded.h"
#include "faces/nccl/include/nccl.h"
#include "rig/runtime.h"

namespace commrig::nccl {
namespace {

constexpr std::size_t kLineMax = 1024;  // bytes; longer lines are cut, as tools expect

struct Name {
  std::string_view name;
  std::uint64_t bits;
};
constexpr std::array kLevels{
    Name{"VERSION", 1}, Name{"WARN", 2}, Name{"INFO", 3}, Name{"ABORT", 4}, Name{"TRACE", 5},
};
constexpr std::array kSubsystems{
    Name{"INIT", kInit},         Name{"COLL", kColl},
    Name{"P2P", kP2p},           Name{"SHM", 0x8},
    Name{"NET", 0x10},           Name{"GRAPH", 0x20},
    Name{"TUNING", 0x40},        Name{"ENV", kEnv},
    Name{"ALLOC", kAlloc},       Name{"CALL", kCall},
    Name{"PROXY", 0x400},        Name{"NVLS", 0x800},
    Name{"REG", kReg},           Name{"BOOTSTRAP", kBootstrap},
    Name{"PROFILE", 0x4000},     Name{"RAS", 0x8000},
    Name{"ALL", kAllSubsystems},
};

std::string upper(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::toupper(c); });
  return out;
}

std::uint64_t bits_of(const auto& table, std::string_view text) {
  const auto* const place = std::ranges::find(table, upper(text), &Name::name);
  return place == table.end() ? 0 : place->bits;
}

std::string_view variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): only read
  return value == nullptr ? std::string_view() : std::string_view(value);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "?";
  const std::string_view whole(name.data());
  return std::string(whole.substr(0, whole.find('.')));
}

struct Settings {
  Level level = Level::kNone;
  std::uint64_t subsystems = 0;
  std::FILE* file = nullptr;
  std::string host;
  bool version_printed = false;
};

Settings read_settings() {
  Settings made;
  made.level = parse_level(variable("NCCL_DEBUG"));
  const std::string_view subsystems = variable("NCCL_DEBUG_SUBSYS");
  made.subsystems =
      subsystems.data() == nullptr ? kInit | kBootstrap | kEnv : parse_subsystems(subsystems);
  made.host = host_name();
  made.file = stdout;
  const std::string_view pattern = variable("NCCL_DEBUG_FILE");
  if (made.level > Level::kVersion && !pattern.empty()) {
    std::FILE* const opened =
        std::fopen(expand_file_name(pattern, made.host, static_cast<int>(getpid())).c_str(), "w");
    if (opened != nullptr) made.file = opened;
  }
  return made;
}

struct State {
  std::optional<Settings> settings;
  std::array<char, kLineMax> last_error{};
};

Guarded<State>& state() {
  static auto* const kState = new Guarded<State>;  // tidy: allow(new) until the process ends
  return *kState;
}

Settings& settings(State& state) {
  if (!state.settings) state.settings = read_settings();
  return *state.settings;
}

// One line, written at once.
void print(const Settings& settings, std::string line) {
  line.resize(std::min(line.size(), kLineMax - 1));
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), settings.file);
  std::fflush(settings.file);
}

std::string prefix(const Settings& settings) {
  return settings.host + ":" + std::to_string(getpid()) + ":" + std::to_string(gettid()) + " [" +
         std::to_string(rig::current_device()) + "] ";
}

std::string time_of_day() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  if (localtime_r(&now, &parts) != nullptr) {
    std::strftime(text.data(), text.size(), "[%Y-%m-%d %H:%M:%S] ", &parts);
  }
  return text.data();
}

std::string version_text() {
  return "NCCL version " + std::to_string(NCCL_MAJOR) + "." + std::to_string(NCCL_MINOR) + "." +
         std::to_string(NCCL_PATCH) + "+commrig";
}

}  // namespace

Level parse_level(std::string_view text) {
  return static_cast<Level>(bits_of(kLevels, text));
}

std::uint64_t parse_subsystems(std::string_view text) {
  const bool all_but = text.starts_with('^');
  if (all_but) text.remove_prefix(1);
  std::uint64_t bits = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    bits |= bits_of(kSubsystems, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all_but ? ~bits : bits;
}

std::string expand_file_name(std::string_view pattern, std::string_view host, int process) {
  std::string out;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%' || i + 1 == pattern.size()) {
      out += pattern[i];
      continue;
    }
    const char kind = pattern[++i];
    if (kind == 'h') {
      out += host;
    } else if (kind == 'p') {
      out += std::to_string(process);
    } else if (kind == '%') {
      out += '%';
    } else {
      out += std::string{'%', kind};
    }
  }
  return out;
}

void log_version() {
  const auto locked = state().lock();
  Settings& found = settings(*locked);
  if (found.level < Level::kVersion || found.version_printed) return;
  found.version_printed = true;
  print(found, version_text());
}

bool wants_info(Subsystem subsystem) {
  const auto locked = state().lock();
  const Settings& found = settings(*locked);
  return found.level >= Level::kInfo && (found.subsystems & subsystem) != 0;
}

void info(Subsystem subsystem, std::string_view text) {
  const auto locked = state().lock();
  const Settings& found = settings(*locked);
  if (found.level < Level::kInfo || (found.subsystems & subsystem) == 0) return;
  print(found, prefix(found) + "NCCL INFO " + std::string(text));
}

void warn(std::string_view text) {
  const auto locked = state().lock();
  std::array<char, kLineMax>& kept = locked->last_error;
  const std::size_t bytes = std::min(text.size(), kept.size() - 1);
  std::memcpy(kept.data(), text.data(), bytes);
  kept[bytes] = '\0';
  const Settings& found = settings(*locked);
  if (found.level < Level::kWarn) return;
  print(found, fmt::format("\n{}{}NCCL WARN {}", time_of_day(), prefix(found), text));
}

const char* last_error() {
  return state().lock()->last_error.data();
}

void reset_log() {
  const auto locked = state().lock();
  if (locked->settings && locked->settings->file != stdout) std::fclose(locked->settings->file);
  locked->settings.reset();
}

}  // namespace commrig::nccl
