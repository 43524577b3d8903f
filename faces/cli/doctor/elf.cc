// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/elf.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include <fmt/format.h>

namespace commrig::cli::doctor {
namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOurMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOurMachine = EM_AARCH64;
#endif

Error damaged(std::string_view what) {
  return Error::make(Code::kBadArgument,
                     fmt::format("damaged ELF file: {} lies outside of the file", what));
}

// A part of the file; whatever is taken out of it is inside.
class Part {
 public:
  explicit Part(std::span<const std::byte> bytes) : bytes_(bytes) {}

  Result<Part> part(std::uint64_t offset, std::uint64_t size, std::string_view what) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return damaged(what);
    return Part(bytes_.subspan(offset, size));
  }

  // Its records of the type, from the first to the last whole one.
  template <class T>
  std::size_t count() const {
    return bytes_.size() / sizeof(T);
  }
  template <class T>
  T record(std::size_t index) const {
    T value{};
    std::memcpy(&value, bytes_.data() + index * sizeof(T), sizeof(T));
    return value;
  }

  // The text at the offset, which ends within this part.
  Result<std::string_view> text(std::uint64_t offset, std::string_view what) const {
    if (offset >= bytes_.size()) return damaged(what);
    const auto* const start = reinterpret_cast<const char*>(bytes_.data()) + offset;
    const std::size_t most = bytes_.size() - offset;
    const std::size_t length = ::strnlen(start, most);
    if (length == most) return damaged(what);
    return std::string_view(start, length);
  }

 private:
  std::span<const std::byte> bytes_;
};

class Reader {
 public:
  Reader(std::span<const std::byte> file, std::span<const std::string_view> prefixes)
      : file_(file), prefixes_(prefixes) {}

  Result<ElfFile> read(const Elf64_Ehdr& header) {
    COMMRIG_TRY(read_segments(header));
    COMMRIG_TRY(read_dynamic());
    COMMRIG_TRY(read_sections(header));
    // A shared library may have an entry, but no loader of its own.
    read_.executable = header.e_type == ET_EXEC || !read_.interpreter.empty();
    return std::move(read_);
  }

 private:
  Status read_segments(const Elf64_Ehdr& header);
  Status read_dynamic();
  Status read_sections(const Elf64_Ehdr& header);
  Status read_symbols(const Elf64_Shdr& table, const std::vector<Elf64_Shdr>& sections);
  std::optional<std::uint64_t> offset_of(std::uint64_t address) const;
  bool asked_for(std::string_view name) const {
    return std::ranges::any_of(prefixes_, [&](auto each) { return name.starts_with(each); });
  }

  Part file_;
  std::span<const std::string_view> prefixes_;
  ElfFile read_{.native = true, .machine = kOurMachine};
  std::vector<Elf64_Phdr> loaded_;
  std::optional<Part> dynamic_;
};

Status Reader::read_segments(const Elf64_Ehdr& header) {
  if (header.e_phnum == 0) return ok();
  if (header.e_phentsize != sizeof(Elf64_Phdr)) return damaged("the table of segments");
  COMMRIG_ASSIGN(const Part table,
                 file_.part(header.e_phoff, std::uint64_t{header.e_phnum} * sizeof(Elf64_Phdr),
                            "the table of segments"));
  for (std::size_t i = 0; i < table.count<Elf64_Phdr>(); ++i) {
    const auto segment = table.record<Elf64_Phdr>(i);
    if (segment.p_type == PT_LOAD) loaded_.push_back(segment);
    if (segment.p_type == PT_INTERP) {
      COMMRIG_ASSIGN(const Part name,
                     file_.part(segment.p_offset, segment.p_filesz, "the loader's name"));
      COMMRIG_ASSIGN(read_.interpreter, name.text(0, "the loader's name"));
    }
    if (segment.p_type == PT_DYNAMIC) {
      COMMRIG_ASSIGN(dynamic_,
                     file_.part(segment.p_offset, segment.p_filesz, "the dynamic section"));
    }
  }
  return ok();
}

std::optional<std::uint64_t> Reader::offset_of(std::uint64_t address) const {
  for (const Elf64_Phdr& each : loaded_) {
    if (address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz) {
      return each.p_offset + (address - each.p_vaddr);
    }
  }
  return std::nullopt;
}

Status Reader::read_dynamic() {
  if (!dynamic_) return ok();
  read_.dynamic = true;
  std::vector<Elf64_Dyn> entries;
  for (std::size_t i = 0; i < dynamic_->count<Elf64_Dyn>(); ++i) {
    entries.push_back(dynamic_->record<Elf64_Dyn>(i));
    if (entries.back().d_tag == DT_NULL) break;
  }
  const auto value = [&](std::int64_t tag) -> std::uint64_t {
    const auto found = std::ranges::find(entries, tag, &Elf64_Dyn::d_tag);
    return found == entries.end() ? 0 : found->d_un.d_val;
  };
  const std::optional<std::uint64_t> offset = offset_of(value(DT_STRTAB));
  if (!offset) return damaged("the table of names");
  COMMRIG_ASSIGN(const Part names, file_.part(*offset, value(DT_STRSZ), "the table of names"));
  for (const Elf64_Dyn& each : entries) {
    std::string* target = nullptr;
    if (each.d_tag == DT_NEEDED) target = &read_.needed.emplace_back();
    if (each.d_tag == DT_SONAME) target = &read_.soname;
    if (each.d_tag == DT_RPATH) target = &read_.rpath;
    if (each.d_tag == DT_RUNPATH) target = &read_.runpath;
    if (target == nullptr) continue;
    COMMRIG_ASSIGN(*target, names.text(each.d_un.d_val, "a name of the dynamic section"));
  }
  return ok();
}

Status Reader::read_sections(const Elf64_Ehdr& header) {
  if (header.e_shnum == 0 || header.e_shstrndx == SHN_UNDEF) return ok();
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return damaged("the table of sections");
  COMMRIG_ASSIGN(const Part table,
                 file_.part(header.e_shoff, std::uint64_t{header.e_shnum} * sizeof(Elf64_Shdr),
                            "the table of sections"));
  std::vector<Elf64_Shdr> sections;
  for (std::size_t i = 0; i < table.count<Elf64_Shdr>(); ++i) {
    sections.push_back(table.record<Elf64_Shdr>(i));
  }
  if (header.e_shstrndx >= sections.size()) return damaged("the names of sections");
  const Elf64_Shdr& at = sections[header.e_shstrndx];
  COMMRIG_ASSIGN(const Part names, file_.part(at.sh_offset, at.sh_size, "the names of sections"));
  for (const Elf64_Shdr& section : sections) {
    COMMRIG_ASSIGN(const std::string_view name, names.text(section.sh_name, "a section's name"));
    read_.sections.emplace_back(name);
    if (section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM) {
      COMMRIG_TRY(read_symbols(section, sections));
    }
  }
  return ok();
}

Status Reader::read_symbols(const Elf64_Shdr& table, const std::vector<Elf64_Shdr>& sections) {
  if (table.sh_link >= sections.size()) return damaged("the names of symbols");
  const Elf64_Shdr& at = sections[table.sh_link];
  COMMRIG_ASSIGN(const Part names, file_.part(at.sh_offset, at.sh_size, "the names of symbols"));
  COMMRIG_ASSIGN(const Part symbols, file_.part(table.sh_offset, table.sh_size, "the symbols"));
  for (std::size_t i = 1; i < symbols.count<Elf64_Sym>(); ++i) {
    const auto symbol = symbols.record<Elf64_Sym>(i);
    if (symbol.st_name == 0) continue;
    COMMRIG_ASSIGN(const std::string_view name, names.text(symbol.st_name, "a symbol's name"));
    if (!asked_for(name)) continue;
    if (symbol.st_shndx != SHN_UNDEF) {
      read_.defined.emplace_back(name);
    } else if (table.sh_type == SHT_DYNSYM && ELF64_ST_BIND(symbol.st_info) != STB_WEAK) {
      read_.undefined.emplace_back(name);
    }
  }
  return ok();
}

}  // namespace

Result<ElfFile> read_elf(std::span<const std::byte> file,
                         std::span<const std::string_view> prefixes) {
  const Part bytes(file);
  if (file.size() < EI_NIDENT || std::memcmp(file.data(), ELFMAG, SELFMAG) != 0) {
    return Error::make(Code::kBadArgument, "no ELF file");
  }
  const bool little = file[EI_DATA] == std::byte{ELFDATA2LSB};
  // The machine's number stands in the same place in files of 32 bits.
  COMMRIG_ASSIGN(const Part machine, bytes.part(18, 2, "the header"));
  auto number = machine.record<std::uint16_t>(0);
  if (!little) number = __builtin_bswap16(number);
  if (!little || file[EI_CLASS] != std::byte{ELFCLASS64} || number != kOurMachine) {
    ElfFile foreign;
    foreign.machine = number;
    return foreign;
  }
  COMMRIG_ASSIGN(const Part header, bytes.part(0, sizeof(Elf64_Ehdr), "the header"));
  return Reader(file, prefixes).read(header.record<Elf64_Ehdr>(0));
}

std::string name_of_machine(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "x86";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_RISCV:
      return "riscv";
    default:
      return fmt::format("machine {}", machine);
  }
}

}  // namespace commrig::cli::doctor
