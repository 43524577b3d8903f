// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/elf.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "faces/cli/doctor/elf_for_test.h"
#include "faces/cli/doctor/mapped_file.h"

namespace commrig::cli::doctor {
namespace {

constexpr std::array<std::string_view, 1> kPrefixes{"cuda"};
using Names = std::vector<std::string>;

ElfForTest program() {
  ElfForTest file;
  file.interpreter = "/lib64/loader";
  file.names = {{DT_NEEDED, "libcudart.so.12"},
                {DT_NEEDED, "libc.so.6"},
                {DT_RPATH, "/a:/b"},
                {DT_RUNPATH, "/c"},
                {DT_SONAME, "me"}};
  file.defined = {"cudaMine", "main"};
  file.undefined = {"cudaMalloc", "printf"};
  file.weak = {"cudaPerhaps"};
  file.sections = {".nv_fatbin"};
  return file;
}

TEST(Elf, TellsWhatAProgramIsLoadedWith) {
  const Result<ElfFile> read = read_elf(program().bytes(), kPrefixes);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_TRUE(read->native);
  EXPECT_TRUE(read->executable);
  EXPECT_TRUE(read->dynamic);
  EXPECT_EQ(read->interpreter, "/lib64/loader");
  EXPECT_EQ(read->soname, "me");
  EXPECT_EQ(read->rpath, "/a:/b");
  EXPECT_EQ(read->runpath, "/c");
  EXPECT_EQ(read->needed, (Names{"libcudart.so.12", "libc.so.6"}));
  EXPECT_EQ(read->defined, Names{"cudaMine"});
  EXPECT_EQ(read->undefined, Names{"cudaMalloc"});
  EXPECT_NE(std::ranges::find(read->sections, ".nv_fatbin"), read->sections.end());
}

TEST(Elf, ReadsThisVeryProgram) {
  const Result<MappedFile> self = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(self);
  constexpr std::array<std::string_view, 1> kPrefix{"commrig_test_has_this"};
  const Result<ElfFile> read = read_elf(self->bytes(), kPrefix);
  ASSERT_TRUE(read) << to_string(read.error());
  EXPECT_TRUE(read->native && read->executable && read->dynamic);
  EXPECT_NE(std::ranges::find(read->needed, "libc.so.6"), read->needed.end());
}

TEST(Elf, OfAnotherMachineOnlyThatIsTold) {
  ElfForTest file = program();
  file.machine = EM_RISCV;
  Result<ElfFile> read = read_elf(file.bytes(), kPrefixes);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->native);
  EXPECT_EQ(name_of_machine(read->machine), "riscv");
  EXPECT_TRUE(read->needed.empty());

  std::vector<std::byte> narrow = program().bytes();
  narrow[EI_CLASS] = std::byte{ELFCLASS32};
  read = read_elf(narrow, kPrefixes);
  ASSERT_TRUE(read);
  EXPECT_FALSE(read->native);
}

TEST(Elf, OtherFilesAreRefused) {
  for (const std::string text : {"", "#!/bin/sh\n",
                                 "\x7f"
                                 "EL",
                                 "\x7f"
                                 "ELF"}) {
    const Result<ElfFile> read = read_elf(std::as_bytes(std::span(text)), kPrefixes);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, Code::kBadArgument);
  }
}

// Wherever it is cut, something that is asked for is missing: the table of sections is at the end.
TEST(Elf, ACutFileIsRefusedAtEveryLength) {
  const std::vector<std::byte> whole = program().bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(length));
    const Result<ElfFile> read = read_elf(cut, kPrefixes);
    ASSERT_FALSE(read) << "cut to " << length;
    ASSERT_EQ(read.error().code, Code::kBadArgument);
  }
}

// Offsets, sizes and counts of all kinds are among them.
TEST(Elf, AnyByteMayBeWrong) {
  const std::vector<std::byte> whole = program().bytes();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const std::byte value : {std::byte{0}, std::byte{0x7F}, std::byte{0xFF}}) {
      std::vector<std::byte> spoiled = whole;
      spoiled[i] = value;
      const Result<ElfFile> read = read_elf(spoiled, kPrefixes);
      ASSERT_TRUE(read || read.error().code == Code::kBadArgument);
    }
  }
}

}  // namespace
}  // namespace commrig::cli::doctor
