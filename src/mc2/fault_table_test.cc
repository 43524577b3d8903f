// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codes.h"

// The table of faults in the documents is the list of tests, no more and no less.
namespace commrig::mc2 {
namespace {

// MessageFault.NullSource, but not fault_table_test.cc.
bool is_fault(std::string_view word) {
  const std::size_t dot = word.find('.');
  const std::size_t at = word.find("Fault");
  return at != 0 && at < dot && dot != std::string_view::npos && !word.ends_with(".cc") &&
         word.find_first_of("_/* ") == std::string_view::npos;
}

// "Codes/MessageFault" with "IsNamed/NullSource_readme112" is MessageFault.NullSource.
std::string fault_of(const testing::TestInfo& test) {
  std::string suite = test.test_suite_name();
  suite.erase(0, suite.find('/') + 1);
  std::string name = test.name();
  if (name.rfind("IsNamed/", 0) == 0) {
    name.erase(0, name.find('/') + 1);
    name.erase(name.rfind('_'));
  }
  return suite + "." + name;
}

std::set<std::string> registered_faults() {
  std::set<std::string> faults;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const std::string fault = fault_of(*suite.GetTestInfo(j));
      if (is_fault(fault)) faults.insert(fault);
    }
  }
  return faults;
}

std::string document() {
  std::ifstream file(COMMRIG_FAULT_TABLE);
  EXPECT_TRUE(file.is_open()) << COMMRIG_FAULT_TABLE;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(FaultsDocument, DocumentNamesEveryTestAndEveryTestIsThere) {
  const std::string text = document();
  std::set<std::string> named;
  for (std::size_t tick = text.find('`'); tick != std::string::npos;) {
    const std::size_t end = std::min(text.find('`', tick + 1), text.size());
    const std::string word = text.substr(tick + 1, end - tick - 1);
    if (is_fault(word)) named.insert(word);
    tick = end < text.size() ? text.find('`', end + 1) : std::string::npos;
  }
  EXPECT_THAT(named, testing::ContainerEq(registered_faults()));
}

TEST(FaultsDocument, DocumentNamesIdsThatExist) {
  const std::string text = document();
  std::set<std::string> ids;
  for (std::size_t at = text.find("CR-"); at != std::string::npos; at = text.find("CR-", at + 1)) {
    std::size_t end = at + 3;
    while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
    ids.insert(text.substr(at, end - at));
  }
  EXPECT_GT(ids.size(), 20U);
  for (const std::string& id : ids) EXPECT_NE(find_code(id), nullptr) << id;
}

}  // namespace
}  // namespace commrig::mc2
