// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace commrig::cli::doctor {

#if defined(__x86_64__)
inline constexpr Elf64_Half kMachineForTest = EM_X86_64;
#elif defined(__aarch64__)
inline constexpr Elf64_Half kMachineForTest = EM_AARCH64;
#endif

// Makes the bytes of a small ELF file, which can be examined, not run.
class ElfForTest {
 public:
  Elf64_Half machine = kMachineForTest;
  Elf64_Half type = ET_DYN;
  bool dynamic = true;
  std::string interpreter{};
  std::vector<std::pair<Elf64_Sxword, std::string>> names{};  // such as {DT_NEEDED, "libc.so.6"}
  std::vector<std::string> defined{};
  std::vector<std::string> undefined{};
  std::vector<std::string> weak{};  // undefined, too
  std::vector<std::string> sections{};
  std::string text{};  // some bytes of the file

  std::vector<std::byte> bytes() const;

 private:
  // A table of texts, each ended by a zero; the first one is empty.
  class Texts {
   public:
    Elf64_Word add(const std::string& one) {
      const auto offset = static_cast<Elf64_Word>(all.size());
      all += one + '\0';
      return offset;
    }
    std::string all = std::string(1, '\0');
  };

  template <class T>
  static std::size_t append(std::vector<std::byte>& file, std::span<const T> records) {
    file.resize((file.size() + 7) / 8 * 8);
    const std::size_t offset = file.size();
    const auto bytes = std::as_bytes(records);
    file.insert(file.end(), bytes.begin(), bytes.end());
    return offset;
  }

  std::vector<Elf64_Sym> symbols(Texts& texts) const {
    std::vector<Elf64_Sym> made(1);
    const auto add = [&](const std::string& name, unsigned char bind, Elf64_Section section) {
      Elf64_Sym symbol{};
      symbol.st_name = texts.add(name);
      symbol.st_info = static_cast<unsigned char>(ELF64_ST_INFO(bind, STT_FUNC));
      symbol.st_shndx = section;
      made.push_back(symbol);
    };
    for (const auto& each : defined) add(each, STB_GLOBAL, 1);
    for (const auto& each : undefined) add(each, STB_GLOBAL, SHN_UNDEF);
    for (const auto& each : weak) add(each, STB_WEAK, SHN_UNDEF);
    return made;
  }
};

inline std::vector<std::byte> ElfForTest::bytes() const {
  Texts texts;
  Texts titles;
  const std::vector<Elf64_Sym> symbol_table = symbols(texts);
  std::vector<Elf64_Dyn> entries;
  for (const auto& [tag, name] : names) entries.push_back({tag, {texts.add(name)}});

  std::vector<std::byte> file(sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Phdr));
  const std::size_t texts_at = append<char>(file, texts.all);
  const std::size_t symbols_at = append<Elf64_Sym>(file, symbol_table);
  entries.push_back({DT_STRTAB, {texts_at}});
  entries.push_back({DT_STRSZ, {texts.all.size()}});
  entries.push_back({DT_NULL, {0}});
  const std::size_t dynamic_at = append<Elf64_Dyn>(file, entries);
  const std::size_t loader_at = append<char>(file, std::string(interpreter) + '\0');
  append<char>(file, text);

  std::vector<Elf64_Shdr> headers(1);
  const auto section = [&](const std::string& name, Elf64_Word kind, std::size_t offset,
                           std::size_t size) {
    Elf64_Shdr header{};
    header.sh_name = titles.add(name);
    header.sh_type = kind;
    header.sh_offset = offset;
    header.sh_size = size;
    headers.push_back(header);
  };
  section(".dynstr", SHT_STRTAB, texts_at, texts.all.size());
  section(".dynsym", SHT_DYNSYM, symbols_at, symbol_table.size() * sizeof(Elf64_Sym));
  headers.back().sh_link = 1;
  for (const auto& each : sections) section(each, SHT_PROGBITS, 0, 0);
  section(".shstrtab", SHT_STRTAB, 0, 0);
  headers.back().sh_offset = append<char>(file, titles.all);
  headers.back().sh_size = titles.all.size();
  const std::size_t headers_at = append<Elf64_Shdr>(file, headers);

  std::vector<Elf64_Phdr> segments;
  const auto segment = [&](Elf64_Word kind, std::size_t offset, std::size_t size) {
    Elf64_Phdr header{};
    header.p_type = kind;
    header.p_offset = offset;
    header.p_vaddr = offset;
    header.p_filesz = size;
    segments.push_back(header);
  };
  segment(PT_LOAD, 0, file.size());
  if (dynamic) segment(PT_DYNAMIC, dynamic_at, entries.size() * sizeof(Elf64_Dyn));
  if (!interpreter.empty()) segment(PT_INTERP, loader_at, interpreter.size() + 1);
  std::memcpy(file.data() + sizeof(Elf64_Ehdr), segments.data(),
              segments.size() * sizeof(Elf64_Phdr));

  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = type;
  header.e_machine = machine;
  header.e_version = EV_CURRENT;
  header.e_phoff = sizeof(Elf64_Ehdr);
  header.e_phnum = static_cast<Elf64_Half>(segments.size());
  header.e_phentsize = sizeof(Elf64_Phdr);
  header.e_shoff = headers_at;
  header.e_shnum = static_cast<Elf64_Half>(headers.size());
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shstrndx = static_cast<Elf64_Half>(headers.size() - 1);
  std::memcpy(file.data(), &header, sizeof(header));
  return file;
}

}  // namespace commrig::cli::doctor
