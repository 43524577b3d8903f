// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace commrig::cli::bench {

struct Series {
  std::string name;
  std::string colour;  // of SVG
  bool dashed = false;
  std::vector<std::pair<double, double>> points;  // both above 0
};

// Both axes are logarithmic; the horizontal one is of bytes.
struct Panel {
  std::string title;
  std::vector<Series> series;
};

// The panels one below the other, as SVG 1.1.
std::string draw_chart(const std::string& title, const std::vector<Panel>& panels);

}  // namespace commrig::cli::bench
