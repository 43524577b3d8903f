// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/codes.h"

// The table of faults in the documents is the list of tests, no more and no less.
namespace commrig::mc2 {
namespace {

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
      if (std::regex_search(fault, std::regex("^[A-Za-z]+Fault[A-Za-z]*\\."))) faults.insert(fault);
    }
  }
  return faults;
}

std::set<std::string> matches(const std::string& pattern) {
  std::ifstream file(COMMRIG_FAULT_TABLE);
  EXPECT_TRUE(file.is_open()) << COMMRIG_FAULT_TABLE;
  std::set<std::string> found;
  const std::regex expression(pattern);
  for (std::string line; std::getline(file, line);) {
    for (std::sregex_iterator each(line.begin(), line.end(), expression), end; each != end;
         ++each) {
      found.insert((*each)[1]);
    }
  }
  return found;
}

TEST(FaultsDocument, DocumentNamesEveryTestAndEveryTestIsThere) {
  EXPECT_THAT(matches("`([A-Za-z]+Fault[A-Za-z]*\\.[A-Za-z]+)`"),
              testing::ContainerEq(registered_faults()));
}

TEST(FaultsDocument, DocumentNamesIdsThatExist) {
  const std::set<std::string> ids = matches("(CR-[A-Z0-9]+)");
  EXPECT_GT(ids.size(), 20U);
  for (const std::string& id : ids) EXPECT_NE(find_code(id), nullptr) << id;
}

}  // namespace
}  // namespace commrig::mc2
