// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/run/lines.h"

#include <gtest/gtest.h>

namespace commrig::cli::run {
namespace {

TEST(Lines, EveryLineHasTheTag) {
  Lines lines("[7] ");
  EXPECT_EQ(lines.add("one\ntwo\n\nthree\n"), "[7] one\n[7] two\n[7] \n[7] three\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(Lines, LineThatIsNotWholeWaits) {
  Lines lines("[0] ");
  EXPECT_EQ(lines.add("o"), "");
  EXPECT_EQ(lines.add("ne"), "");
  EXPECT_EQ(lines.add("\ntw"), "[0] one\n");
  EXPECT_EQ(lines.add("o\n"), "[0] two\n");
}

TEST(Lines, LastLineNeedsNoNewline) {
  Lines lines("[0] ");
  EXPECT_EQ(lines.add("end"), "");
  EXPECT_EQ(lines.finish(), "[0] end\n");
  EXPECT_EQ(lines.finish(), "");
}

TEST(Lines, BytesMayBeAnything) {
  Lines lines("[0] ");
  using namespace std::string_view_literals;
  EXPECT_EQ(lines.add("a\0\xFF\r\n"sv), "[0] a\0\xFF\r\n"sv);
}

TEST(Lines, LongLineComesInPieces) {
  Lines lines("[0] ");
  const std::string piece(Lines::kPieceBytes, 'x');
  EXPECT_EQ(lines.add(piece), "");
  EXPECT_EQ(lines.add("y"), "[0] " + piece + "\n");
  EXPECT_EQ(lines.add("z\nnext\n"), "[0]+yz\n[0] next\n");
  EXPECT_EQ(lines.add(piece + piece + "end"), "[0] " + piece + "\n[0]+" + piece + "\n");
  EXPECT_EQ(lines.finish(), "[0]+end\n");
}

TEST(Lines, LineOfExactlyOnePieceIsWhole) {
  Lines lines("[0] ");
  const std::string piece(Lines::kPieceBytes, 'x');
  EXPECT_EQ(lines.add(piece + "\nz\n"), "[0] " + piece + "\n[0] z\n");
}

TEST(Lines, EveryCutOfTheSameBytesGivesTheSameLines) {
  const std::string text = "ab\n\ncdef\ng";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    Lines lines("> ");
    std::string all = lines.add(text.substr(0, cut));
    all += lines.add(text.substr(cut));
    all += lines.finish();
    EXPECT_EQ(all, "> ab\n> \n> cdef\n> g\n") << cut;
  }
}

}  // namespace
}  // namespace commrig::cli::run
