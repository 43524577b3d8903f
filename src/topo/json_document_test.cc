// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/json_document.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace commrig::topo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// "line:column kind" of each fault.
std::vector<std::string> faults(const JsonDocument& document) {
  std::vector<std::string> out;
  for (const SyntaxFault& fault : document.faults()) {
    const Position place = document.position(fault.span.begin);
    out.push_back(std::to_string(place.line) + ":" + std::to_string(place.column) + " " +
                  fault.what);
  }
  return out;
}

// The text after all edits.
std::string mended(const JsonDocument& document) {
  std::string text(document.source());
  for (auto fault = document.faults().rbegin(); fault != document.faults().rend(); ++fault) {
    if (!fault->edit) continue;
    const Span span = fault->edit->span;
    text.replace(span.begin, span.end - span.begin, fault->edit->text);
  }
  return text;
}

TEST(JsonDocument, EveryValueHasKindPathLineAndColumn) {
  const JsonDocument document =
      JsonDocument::parse("{\n  \"a\": [1, -2.5e3, true, null],\n  \"b\": {\"c\": \"text\"}\n}\n");
  EXPECT_THAT(document.faults(), IsEmpty());
  const Node a = document.member(document.root(), "a");
  ASSERT_NE(a, kNoNode);
  EXPECT_EQ(document.size(a), 4U);
  const Node second = document.next(document.first(a));
  EXPECT_EQ(document.path(second), "a[1]");
  EXPECT_EQ(document.raw(second), "-2.5e3");
  EXPECT_EQ(document.integer(document.first(a)), 1);
  EXPECT_FALSE(document.integer(second).has_value());
  const Node c = document.member(document.member(document.root(), "b"), "c");
  EXPECT_EQ(document.path(c), "b.c");
  EXPECT_EQ(document.text(c), "text");
  const Position place = document.position(document.span(c).begin);
  EXPECT_EQ(place.line, 3U);
  EXPECT_EQ(place.column, 14U);
  EXPECT_EQ(document.line(3), "  \"b\": {\"c\": \"text\"}");
  EXPECT_EQ(document.path(document.root()), "$");
}

TEST(JsonDocument, EscapesAreResolvedInValuesAndKeys) {
  const JsonDocument document = JsonDocument::parse(R"({"a\u0062": "\u00e4\ud83d\ude00\n\"\\\/"})");
  EXPECT_THAT(document.faults(), IsEmpty());
  const Node node = document.member(document.root(), "ab");
  ASSERT_NE(node, kNoNode);
  EXPECT_EQ(document.text(node), "\xC3\xA4\xF0\x9F\x98\x80\n\"\\/");
  EXPECT_EQ(document.path(node), "ab");
}

TEST(JsonDocument, ColumnsCountCharacters) {
  const JsonDocument document = JsonDocument::parse("{\"\u8282\u70B9\": 1}");
  const Node node = document.first(document.root());
  EXPECT_EQ(document.position(document.span(node).begin).column, 8U);
}

TEST(JsonDocument, ColumnsOfALongLineCountCharactersToo) {
  std::string text = "{\n\"";
  for (int i = 0; i < 10'000; ++i) text += "\u8282";
  const JsonDocument document = JsonDocument::parse(text + "\": 1\n}");
  const Node node = document.first(document.root());
  const Position place = document.position(document.span(node).begin);
  EXPECT_EQ(place.line, 2U);
  EXPECT_EQ(place.column, 10'005U);
  EXPECT_EQ(document.position(document.source().size()).line, 3U);
  EXPECT_EQ(document.position(document.source().size()).column, 2U);
}

TEST(JsonDocument, CommentsAreFaultsThatCanBeTakenOut) {
  const JsonDocument document =
      JsonDocument::parse("{\n\"a\": 1, // one\n# two\n\"b\": /* three */ \"//no\"\n}");
  EXPECT_THAT(faults(document), ElementsAre("2:9 a comment", "3:1 a comment", "4:6 a comment"));
  EXPECT_THAT(JsonDocument::parse(mended(document)).faults(), IsEmpty());
  EXPECT_EQ(document.text(document.member(document.root(), "b")), "//no");
}

TEST(JsonDocument, CommasTooManyOrTooFewAreNamedWhereTheyBelong) {
  const JsonDocument document = JsonDocument::parse("{\"a\": [1 2, 3,],\n \"b\": 4\n \"c\": 5,,}");
  EXPECT_THAT(faults(document),
              ElementsAre("1:9 no comma behind this value", "1:14 a comma that separates nothing",
                          "2:8 no comma behind this value", "3:8 a comma that separates nothing",
                          "3:9 a comma that separates nothing"));
  EXPECT_EQ(mended(document), "{\"a\": [1, 2, 3],\n \"b\": 4,\n \"c\": 5}");
}

TEST(JsonDocument, QuotesAndSignsOfOtherKeyboardsAreReplaced) {
  const JsonDocument document =
      JsonDocument::parse("{\u201Ca\u201D\uFF1A 'x'\uFF0C b: \u201Cy\u201D}");
  EXPECT_EQ(document.faults().size(), 6U);
  EXPECT_EQ(mended(document), "{\"a\": \"x\", \"b\": \"y\"}");
  EXPECT_EQ(document.text(document.member(document.root(), "a")), "x");
}

TEST(JsonDocument, QuotesWithinOtherQuotesAreNotMended) {
  const JsonDocument document = JsonDocument::parse("{\"a\": 'x\"y'}");
  ASSERT_EQ(document.faults().size(), 1U);
  EXPECT_FALSE(document.faults()[0].edit.has_value());
}

TEST(JsonDocument, AnEllipsisIsNamedAndMarksWhatHoldsIt) {
  const JsonDocument document = JsonDocument::parse("[{\"a\": 1},\n...\n{ ... }]");
  EXPECT_THAT(faults(document),
              ElementsAre("2:1 values were left out here", "3:3 values were left out here"));
  EXPECT_TRUE(document.elided(document.root()));
  EXPECT_FALSE(document.elided(document.first(document.root())));
}

TEST(JsonDocument, WhatIsNotClosedIsNamedWhereItOpens) {
  EXPECT_THAT(faults(JsonDocument::parse("{\"a\": [1")),
              ElementsAre("1:1 an object is not closed", "1:7 a list is not closed"));
  EXPECT_THAT(faults(JsonDocument::parse("{\"a\": [1, 2}")),
              ElementsAre("1:7 a list is not closed"));
  EXPECT_THAT(faults(JsonDocument::parse("[1]]")),
              ElementsAre("1:4 text behind the end of the table"));
  EXPECT_THAT(faults(JsonDocument::parse("{\"a\": \"x\n}")),
              ElementsAre("1:7 a string is not closed on its line"));
}

TEST(JsonDocument, AKeyThatStandsTwiceIsNamedAndTheLastOneCounts) {
  std::string many = "{";
  for (int i = 0; i < 40; ++i) many += "\"k" + std::to_string(i) + "\": 0, ";
  for (const std::string& start : {std::string("{"), many}) {
    const JsonDocument document = JsonDocument::parse(start + "\"a\": 1, \"a\": 2}");
    EXPECT_THAT(faults(document), ElementsAre(HasSubstr("the key \"a\" stands twice")));
    EXPECT_EQ(document.integer(document.member(document.root(), "a")), 2);
  }
}

TEST(JsonDocument, NumbersAreThoseOfTheStrictGrammar) {
  for (const char* const good : {"0", "-0", "10", "1.5", "1e5", "1E-5", "0.1e+2"}) {
    EXPECT_THAT(JsonDocument::parse(good).faults(), IsEmpty()) << good;
  }
  for (const char* const bad : {"01", "+1", "1.", ".5", "0x10", "1e", "-", "NaN", "Infinity"}) {
    EXPECT_EQ(JsonDocument::parse("[" + std::string(bad) + "]").faults().size(), 1U) << bad;
  }
  EXPECT_FALSE(JsonDocument::parse("9223372036854775808").integer(0).has_value());
}

TEST(JsonDocument, DepthIsBounded) {
  for (const char* const unit : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 100'000; ++i) deep += unit;
    const JsonDocument document = JsonDocument::parse(deep);
    EXPECT_THAT(faults(document),
                testing::Contains(HasSubstr("more than 64 lists and objects within each other")));
  }
  const std::string allowed = std::string(64, '[') + std::string(64, ']');
  EXPECT_THAT(JsonDocument::parse(allowed).faults(), IsEmpty());
}

TEST(JsonDocument, WhatIsNoJsonHasNoRootOrABrokenOne) {
  EXPECT_EQ(JsonDocument::parse("").root(), kNoNode);
  EXPECT_EQ(JsonDocument::parse(" \n").root(), kNoNode);
  const JsonDocument words = JsonDocument::parse("no table");
  EXPECT_TRUE(words.is(words.root(), JsonKind::kBroken));
  const JsonDocument wide = JsonDocument::parse(std::string("{\0\"\0", 4));
  EXPECT_EQ(wide.root(), kNoNode);
  EXPECT_EQ(wide.faults().size(), 1U);
}

TEST(JsonDocument, WordsBeforeTheTableAreSkipped) {
  const JsonDocument document = JsonDocument::parse("hccl.json:\n----\n{\"a\": 1}");
  EXPECT_THAT(faults(document), ElementsAre("1:1 text before the table"));
  EXPECT_TRUE(document.is(document.root(), JsonKind::kObject));
}

TEST(JsonDocument, FaultsAreBoundedAndTheRestIsCounted) {
  const JsonDocument document = JsonDocument::parse("[" + std::string(5000, ',') + "]");
  EXPECT_EQ(document.faults().size(), JsonDocument::kFaultsMax);
  EXPECT_EQ(document.faults_dropped(), 4000U);
}

TEST(JsonDocument, BytesThatAreNotUtf8AreNamed) {
  for (const char* const bad :
       {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE4\xB8"}) {
    const JsonDocument document = JsonDocument::parse("[\"" + std::string(bad) + "\"]");
    EXPECT_THAT(faults(document), testing::Contains(HasSubstr("not UTF-8"))) << bad;
  }
}

}  // namespace
}  // namespace commrig::topo
