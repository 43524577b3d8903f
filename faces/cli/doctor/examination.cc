// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/examination.h"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "faces/cli/doctor/mapped_file.h"

namespace commrig::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kPrefixes{"cuda", "__cuda", "nccl", "pnccl"};
constexpr std::array<std::string_view, 2> kStoodInFor{"libcudart.so", "libnccl.so"};

// What a CUDA runtime has and its callers have not, also when its names were stripped. In two
// pieces, so that this program does not have it.
constexpr std::array<std::string_view, 2> kRuntimeText{"CUDA driver version is insufficient",
                                                       " for CUDA runtime version"};

bool is_stood_in_for(std::string_view library) {
  return std::ranges::any_of(kStoodInFor, [&](auto each) { return library.starts_with(each); });
}

bool has(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

std::string_view as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool has_runtime_text(std::span<const std::byte> bytes) {
  const auto [first, second] = kRuntimeText;
  const std::string_view all = as_text(bytes);
  for (std::size_t at = all.find(first); at != std::string_view::npos; at = all.find(first, at)) {
    at += first.size();
    if (all.substr(at).starts_with(second)) return true;
  }
  return false;
}

class Examiner {
 public:
  Examiner(fs::path program, const Surroundings& surroundings)
      : program_(std::move(program)), surroundings_(surroundings) {}

  Result<Examination> run();

 private:
  struct Loaded {
    fs::path path;
    ElfFile elf;
    Folders inherited;  // RPATH of those that have loaded it
  };

  Result<Examination> examine_script(std::span<const std::byte> bytes);
  void check_rights();
  void check_inside(const fs::path& path, const ElfFile& elf, std::span<const std::byte> bytes);
  void load_all(Loaded program);
  void load(const Loaded& by, const std::string& name, std::deque<Loaded>& waiting);
  void judge_missing(const Loaded& by, const std::string& name);
  void judge_place(const Loaded& by, const std::string& name, const fs::path& found,
                   const SearchPath& path);
  void check_functions();
  bool is_own(const fs::path& file) const;
  std::string name(const fs::path& file) const { return file == program_ ? "it" : file.string(); }
  void add(std::string what, std::string change) {
    examined_.problems.push_back({std::move(what), std::move(change)});
  }

  const fs::path program_;
  const Surroundings& surroundings_;
  Examination examined_;
  std::set<std::string> seen_;
  std::set<std::string> offered_;      // by our libraries that it takes
  std::vector<std::string> asked_;     // functions that it and its libraries want
  std::vector<std::string> replaced_;  // our libraries that it takes
  bool privileged_ = false;
};

// Whether the file lies in a folder of this installation.
bool Examiner::is_own(const fs::path& file) const {
  return std::ranges::any_of(surroundings_.own, [&](const std::string& folder) {
    std::error_code failed;
    return fs::equivalent(file.parent_path(), folder, failed);
  });
}

void Examiner::check_rights() {
  if (::access(program_.c_str(), X_OK) != 0) {
    add("it may not be executed", fmt::format("chmod +x {}", program_.string()));
  }
  struct stat facts{};
  if (::stat(program_.c_str(), &facts) != 0) return;
  const bool marked = (facts.st_mode & (S_ISUID | S_ISGID)) != 0;
  const bool capable = ::getxattr(program_.c_str(), "security.capability", nullptr, 0) > 0;
  privileged_ = marked || capable;
  if (!privileged_) return;
  add(marked ? "it is marked setuid or setgid, so the loader ignores LD_LIBRARY_PATH"
             : "it has file capabilities, so the loader ignores LD_LIBRARY_PATH",
      marked ? "examine a copy without the mark (chmod ug-s)"
             : "examine a copy without them (setcap -r)");
}

void Examiner::check_inside(const fs::path& path, const ElfFile& elf,
                            std::span<const std::byte> bytes) {
  const bool runtime = has(elf.defined, "cudaMalloc") || has_runtime_text(bytes);
  if (runtime) {
    add(fmt::format("{} has a CUDA runtime inside, which asks for a driver and a GPU", name(path)),
        "link it to the shared runtime: nvcc -cudart shared, or -lcudart in place of "
        "-lcudart_static");
  }
  if (has(elf.defined, "ncclCommInitRank") || has(elf.defined, "pncclCommInitRank")) {
    add(fmt::format("{} has an NCCL inside", name(path)),
        "link it to the shared library: -lnccl in place of -lnccl_static");
  }
  if (has(elf.sections, ".nv_fatbin") || has(elf.sections, "__nv_relfatbin")) {
    examined_.facts.push_back(
        fmt::format("{} has kernels that were compiled for a GPU: launching one is an error "
                    "(CR-RT01) unless a C++ function takes its place",
                    name(path)));
  }
}

void Examiner::judge_missing(const Loaded& by, const std::string& name) {
  const std::string who = fmt::format("{} needs {}", this->name(by.path), name);
  if (is_stood_in_for(name)) {
    add(who + ", a version that commrig does not have",
        "build it with CUDA 11, 12 or 13 (libcudart.so.11.0, .12, .13) and NCCL 2 (libnccl.so.2)");
  } else if (name.starts_with("libcuda.so") || name.starts_with("libnvidia-ml.so")) {
    add(who + ", the driver's library, which commrig does not have",
        "leave out what calls it; the CUDA runtime's functions are there");
  } else {
    add(who + ", which is not found", "install its package, or name its folder in LD_LIBRARY_PATH");
  }
}

void Examiner::judge_place(const Loaded& by, const std::string& name, const fs::path& found,
                           const SearchPath& path) {
  if (!is_stood_in_for(name)) return;
  if (is_own(found)) {
    examined_.facts.push_back(fmt::format("{} is taken from {}", name, found.string()));
    replaced_.push_back(name);
    return;
  }
  const std::string which = fmt::format("{} is taken from {}", name, found.string());
  const bool first = std::ranges::any_of(path.before, [&](const std::string& folder) {
    std::error_code failed;
    return fs::equivalent(found.parent_path(), folder, failed);
  });
  if (name.find('/') != std::string::npos) {
    add(fmt::format("{} names {} by its path", this->name(by.path), name),
        "link it by -L and -l, to a library that has a soname");
  } else if (first) {
    add(which + ", since an RPATH is looked at before LD_LIBRARY_PATH",
        fmt::format("patchelf --remove-rpath {}, or link it with -Wl,--enable-new-dtags",
                    by.path.string()));
  } else {
    add(which + ", and not from commrig",
        "build it with CUDA 11, 12 or 13 and NCCL 2, and see that commrig is installed whole");
  }
}

void Examiner::load(const Loaded& by, const std::string& name, std::deque<Loaded>& waiting) {
  if (!seen_.insert(name).second) return;
  SearchPath path{.before = {}, .given = {}, .after = {}, .system = surroundings_.system};
  if (by.elf.runpath.empty()) path.before = by.inherited;
  if (!privileged_) {
    path.given = surroundings_.own;
    path.given.insert(path.given.end(), surroundings_.given.begin(), surroundings_.given.end());
  }
  path.after = split_folders(by.elf.runpath, by.path);
  std::optional<FoundLibrary> found = find_library(name, path, kPrefixes);
  if (!found) return judge_missing(by, name);
  judge_place(by, name, found->path, path);
  if (is_own(found->path)) {
    offered_.insert(found->elf.defined.begin(), found->elf.defined.end());
    return;
  }
  Loaded next{found->path, std::move(found->elf), by.inherited};
  const Folders own = split_folders(next.elf.rpath, next.path);
  next.inherited.insert(next.inherited.begin(), own.begin(), own.end());
  if (const auto file = MappedFile::open(next.path.string())) {
    if (!is_stood_in_for(name)) check_inside(next.path, next.elf, file->bytes());
  }
  waiting.push_back(std::move(next));
}

void Examiner::load_all(Loaded program) {
  std::deque<Loaded> waiting{std::move(program)};
  while (!waiting.empty()) {
    const Loaded next = std::move(waiting.front());
    waiting.pop_front();
    asked_.insert(asked_.end(), next.elf.undefined.begin(), next.elf.undefined.end());
    for (const std::string& name : next.elf.needed) load(next, name, waiting);
  }
}

// A function that is missing ends the program when it is first called, or at once.
void Examiner::check_functions() {
  if (replaced_.empty()) return;
  std::set<std::string> missing;
  for (const std::string& name : asked_) {
    if (!offered_.contains(name)) missing.insert(name);
  }
  if (missing.empty()) return;
  add(fmt::format("functions are called that commrig does not have: {}", fmt::join(missing, ", ")),
      "leave these calls out; docs/nccl.md lists what there is");
}

Result<Examination> Examiner::examine_script(std::span<const std::byte> bytes) {
  constexpr std::size_t kLine = 256;  // what the system looks at
  const std::string_view text = as_text(bytes).substr(0, kLine);
  const std::string_view line = text.substr(2, text.find('\n') - 2);
  const std::size_t start = std::min(line.find_first_not_of(" \t"), line.size());
  const std::string_view rest = line.substr(start);
  examined_.facts.push_back(
      fmt::format("a script that {} runs; examine the program or the libraries that it starts",
                  rest.substr(0, rest.find_first_of(" \t"))));
  check_rights();
  return std::move(examined_);
}

Result<Examination> Examiner::run() {
  COMMRIG_ASSIGN(const MappedFile file, MappedFile::open(program_.string()));
  if (as_text(file.bytes()).starts_with("#!")) {
    return examine_script(file.bytes());
  }
  Result<ElfFile> read = read_elf(file.bytes(), kPrefixes);
  if (!read) {
    return Error::make(read.error().code,
                       fmt::format("{}: {}", program_.string(), read.error().message));
  }
  ElfFile elf = std::move(read).value();
  if (!elf.native) {
    add(fmt::format("it is for another machine ({}, or another word size or byte order)",
                    name_of_machine(elf.machine)),
        "compile it for this one");
    return std::move(examined_);
  }
  examined_.facts.push_back(fmt::format("{}, {}", elf.executable ? "a program" : "a library",
                                        name_of_machine(elf.machine)));
  if (elf.executable) check_rights();
  check_inside(program_, elf, file.bytes());
  std::error_code failed;
  if (!elf.interpreter.empty() && !fs::exists(elf.interpreter, failed)) {
    add(fmt::format("its loader {} is not there", elf.interpreter),
        "compile it for this system's C library");
  }
  if (!elf.dynamic) {
    add("it is linked statically, so no library can be put in its place",
        "link it dynamically, without -static");
    return std::move(examined_);
  }
  Loaded program{program_, std::move(elf), {}};
  program.inherited = split_folders(program.elf.rpath, program.path);
  load_all(std::move(program));
  check_functions();
  if (replaced_.empty() && examined_.problems.empty()) {
    examined_.facts.emplace_back(
        "neither libcudart nor libnccl is linked to it; if it loads them later by name, it gets "
        "those of commrig");
  }
  return std::move(examined_);
}

}  // namespace

Result<Examination> examine(const std::string& program, const Surroundings& surroundings) {
  return Examiner(program, surroundings).run();
}

}  // namespace commrig::cli::doctor
