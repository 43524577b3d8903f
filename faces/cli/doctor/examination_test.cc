// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/doctor/examination.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "faces/cli/doctor/folder_for_test.h"

namespace commrig::cli::doctor {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

// An installation of commrig and a system, both of made files.
class Examining : public testing::Test {
 protected:
  Examining() {
    ElfForTest runtime;
    runtime.defined = {"cudaMalloc", "cudaFree"};
    folder_.write("own/libcudart.so.12", runtime.bytes());
    ElfForTest nccl;
    nccl.defined = {"ncclAllReduce", "ncclCommInitRank"};
    folder_.write("own/libnccl.so.2", nccl.bytes());
    folder_.write("system/libc.so.6", ElfForTest{}.bytes());
    folder_.write("system/loader", ElfForTest{}.bytes());
  }

  ElfForTest program() const {
    ElfForTest file;
    file.interpreter = folder_.path("system/loader");
    file.names = {
        {DT_NEEDED, "libcudart.so.12"}, {DT_NEEDED, "libnccl.so.2"}, {DT_NEEDED, "libc.so.6"}};
    file.undefined = {"cudaMalloc", "ncclAllReduce"};
    return file;
  }

  Examination examined(const std::vector<std::byte>& bytes) const {
    return examined(folder_.write("prog", bytes));
  }
  Examination examined(const std::string& path) const {
    Result<Examination> result = examine(
        path, {.own = {folder_.path("own")}, .given = {}, .system = {folder_.path("system")}});
    EXPECT_TRUE(result) << to_string(result.error());
    return result ? std::move(result).value() : Examination{};
  }

  static auto problem(const char* what, const char* change) {
    return ElementsAre(
        AllOf(Field(&Problem::what, HasSubstr(what)), Field(&Problem::change, HasSubstr(change))));
  }

  FolderForTest folder_;
};

TEST_F(Examining, AProgramOfSharedLibrariesWillRun) {
  const Examination found = examined(program().bytes());
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_THAT(found.facts, Contains(HasSubstr("libcudart.so.12 is taken from " +
                                              folder_.path("own/libcudart.so.12"))));
  EXPECT_THAT(found.facts, Contains(HasSubstr("libnccl.so.2 is taken from")));
}

TEST_F(Examining, OneThatLinksNeitherIsLeftInPeace) {
  ElfForTest file = program();
  file.names = {{DT_NEEDED, "libc.so.6"}};
  file.undefined.clear();
  const Examination found = examined(file.bytes());
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_THAT(found.facts, Contains(HasSubstr("neither libcudart nor libnccl")));
}

TEST_F(Examining, AStaticRuntimeIsSeenByItsFunctions) {
  ElfForTest file = program();
  file.names = {{DT_NEEDED, "libc.so.6"}};
  file.undefined.clear();
  file.defined = {"cudaMalloc"};
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("has a CUDA runtime inside", "-cudart shared"));
}

TEST_F(Examining, AStaticRuntimeWithoutNamesIsSeenByItsTexts) {
  ElfForTest file = program();
  file.names = {{DT_NEEDED, "libc.so.6"}};
  file.undefined.clear();
  file.text = "CUDA driver version is insufficient for CUDA runtime version";
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("has a CUDA runtime inside", "-cudart shared"));
}

TEST_F(Examining, AStaticRuntimeInsideOfALibraryIsSeen) {
  ElfForTest library;
  library.defined = {"cudaMalloc"};
  folder_.write("system/libmine.so", library.bytes());
  ElfForTest file = program();
  file.names.emplace_back(DT_NEEDED, "libmine.so");
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("libmine.so has a CUDA runtime inside", "-cudart shared"));
}

TEST_F(Examining, AStaticNcclIsSeen) {
  ElfForTest file = program();
  file.defined = {"pncclCommInitRank"};
  EXPECT_THAT(examined(file.bytes()).problems, problem("has an NCCL inside", "-lnccl"));
}

TEST_F(Examining, ARpathThatWinsIsNamed) {
  folder_.write("toolkit/libcudart.so.12", ElfForTest{}.bytes());
  ElfForTest file = program();
  file.undefined = {"ncclAllReduce"};
  file.names.emplace_back(DT_RPATH, folder_.path("toolkit"));
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("since an RPATH is looked at before", "--remove-rpath"));
  // A RUNPATH does not win, and takes the RPATH's effect away.
  file.names.emplace_back(DT_RUNPATH, folder_.path("toolkit"));
  EXPECT_THAT(examined(file.bytes()).problems, IsEmpty());
}

TEST_F(Examining, OtherVersionsAreNamed) {
  ElfForTest file = program();
  file.names[0].second = "libcudart.so.10.2";
  file.undefined = {"ncclAllReduce"};
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("needs libcudart.so.10.2, a version", "libcudart.so.11.0, .12, .13"));
}

TEST_F(Examining, LibrariesThatAreMissingAreNamedWithWhoNeedsThem) {
  ElfForTest library;
  library.names = {{DT_NEEDED, "libgone.so.1"}};
  folder_.write("system/libmine.so", library.bytes());
  ElfForTest file = program();
  file.names.emplace_back(DT_NEEDED, "libmine.so");
  EXPECT_THAT(examined(file.bytes()).problems,
              problem("libmine.so needs libgone.so.1, which is not found", "install"));
  file.names.back().second = "libcuda.so.1";
  EXPECT_THAT(examined(file.bytes()).problems, problem("the driver's library", "leave out"));
}

TEST_F(Examining, FunctionsThatAreMissingAreNamed) {
  ElfForTest file = program();
  file.undefined = {"cudaMalloc", "cudaFabricate"};
  file.weak = {"cudaPerhaps"};
  EXPECT_THAT(examined(file.bytes()).problems, problem("does not have: cudaFabricate", "leave"));
}

TEST_F(Examining, AnotherMachineIsNamed) {
  ElfForTest file = program();
  file.machine = EM_RISCV;
  EXPECT_THAT(examined(file.bytes()).problems, problem("another machine (riscv", "compile"));
}

TEST_F(Examining, AMissingLoaderIsNamed) {
  ElfForTest file = program();
  file.interpreter = "/nowhere/ld-musl.so.1";
  EXPECT_THAT(examined(file.bytes()).problems, problem("/nowhere/ld-musl.so.1", "compile"));
}

TEST_F(Examining, AStaticProgramIsNamed) {
  ElfForTest file = program();
  file.type = ET_EXEC;
  file.dynamic = false;
  file.interpreter.clear();
  file.undefined.clear();
  EXPECT_THAT(examined(file.bytes()).problems, problem("linked statically", "without -static"));
}

TEST_F(Examining, RightsThatStandInTheWayAreNamed) {
  const std::string path = folder_.write("marked", program().bytes());
  std::filesystem::permissions(path, std::filesystem::perms{04755});
  const Examination marked = examined(path);
  // Without LD_LIBRARY_PATH, nothing of commrig is found.
  ASSERT_EQ(marked.problems.size(), 3U);
  EXPECT_THAT(marked.problems[0].what, HasSubstr("setuid"));
  std::filesystem::permissions(path, std::filesystem::perms{0644});
  EXPECT_THAT(examined(path).problems, problem("may not be executed", "chmod +x"));
}

TEST_F(Examining, CompiledKernelsAreAFact) {
  ElfForTest file = program();
  file.sections = {".nv_fatbin"};
  const Examination found = examined(file.bytes());
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_THAT(found.facts, Contains(HasSubstr("kernels that were compiled for a GPU")));
}

TEST_F(Examining, AScriptPointsAtItsInterpreter) {
  const std::string text = "#! /usr/bin/python3 -B\nprint(1)\n";
  const auto bytes = std::as_bytes(std::span(text));
  const Examination found = examined(std::vector<std::byte>(bytes.begin(), bytes.end()));
  EXPECT_THAT(found.problems, IsEmpty());
  EXPECT_THAT(found.facts, ElementsAre(HasSubstr("a script that /usr/bin/python3 runs")));
}

TEST_F(Examining, WhatIsNoProgramIsRefused) {
  const std::string text = "hello";
  const auto bytes = std::as_bytes(std::span(text));
  const std::string plain = folder_.write("text", {bytes.begin(), bytes.end()});
  for (const std::string& path : {plain, folder_.path("absent"), folder_.path("own")}) {
    const Result<Examination> result = examine(path, {});
    ASSERT_FALSE(result) << path;
    EXPECT_EQ(result.error().code, Code::kBadArgument);
    EXPECT_THAT(result.error().message, HasSubstr(path));
  }
}

}  // namespace
}  // namespace commrig::cli::doctor
