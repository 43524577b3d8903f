// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "faces/cli/bench/bench_options.h"

// What a bench prints and writes.
namespace commrig::cli::bench {

// One form of one line.
struct Cell {
  Figure figure;
  std::optional<double> limit_seconds;  // what the machine's memory allows
};

struct Row {
  Load load;
  std::optional<Cell> out_of_place;
  std::optional<Cell> in_place;
};

// Bytes a second.
double algorithm_bandwidth(const Load& load, const Figure& figure);
double bus_bandwidth(const Load& load, const Figure& figure);

// How ranks of different processes reach each other.
std::string link_name(const BenchOptions& options);
// "4 ranks as threads of one process"
std::string describe_ranks(const BenchOptions& options);

std::string table_head(const BenchOptions& options);
std::string table_row(const BenchOptions& options, const Row& row);
// Wrong elements of all rows, and the mean bus bandwidth.
std::string table_foot(const std::vector<Row>& rows);
std::uint64_t wrong_elements(const std::vector<Row>& rows);

// All of it, as one object of JSON.
std::string to_json(const BenchOptions& options, const std::vector<Row>& rows);

// Time and bus bandwidth over size, as an SVG picture.
std::string to_svg(const BenchOptions& options, const std::vector<Row>& rows);

}  // namespace commrig::cli::bench
