// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/ranktable/check_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace commrig::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kTable = R"({
  "status": "completed", "version": "1.0", "server_count": "2",
  "server_list": [
    {"server_id": "a", "device": [{"device_id": "0", "device_ip": "-.-.-.-", "rank_id": "0"}]},
    {"server_id": "b", "device": [{"device_id": "0", "device_ip": "192.0.2.2", "rank_id": "0"}]}
  ]
}
)";

CheckedFile checked(std::string text) {
  return {"t.json", topo::check_table(std::move(text))};
}

TEST(CheckReport, TextHasPlaceExcerptCaretAndAdvice) {
  const std::string text = report_text(checked(kTable), {});
  EXPECT_THAT(text, HasSubstr("t.json:4:67  error    CR-TAB31  "
                              "server_list[0].device[0].device_ip: placeholder"));
  EXPECT_THAT(text, HasSubstr("| {\"server_id\": \"a\"").Or("..."));
  EXPECT_THAT(text, HasSubstr("^~~~~~~~~\n"));
  EXPECT_THAT(text, HasSubstr("HCCL  EI0014: the value \"-.-.-.-\" of IP"));
  EXPECT_THAT(text, HasSubstr("also  t.json:4:"));
  EXPECT_THAT(text, HasSubstr("t.json: rank table 1.0, 2 servers, 2 ranks: 2 errors, 0 warnings"));
}

}  // namespace
}  // namespace commrig::cli
