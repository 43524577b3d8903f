// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <fmt/format.h>

#include "faces/cli/bench/chart.h"
#include "faces/cli/bench/table.h"

namespace commrig::cli::bench {
namespace {

// Points of one form; `value` is of a row and seconds.
template <class Value>
Series series_of(const std::vector<Row>& rows, bool in_place, bool limit, const Value& value) {
  Series series{
      .name = std::string(in_place ? "in place" : "out of place") + (limit ? ", limit" : ""),
      .colour = in_place ? "#d95f02" : "#1b6ca8",
      .dashed = limit,
      .points = {}};
  for (const Row& row : rows) {
    const std::optional<Cell>& cell = in_place ? row.in_place : row.out_of_place;
    if (!cell || (limit && !cell->limit_seconds)) continue;
    const double seconds = limit ? *cell->limit_seconds : cell->figure.seconds;
    const double y = value(row.load, seconds);
    if (y > 0) series.points.emplace_back(row.load.size(), y);
  }
  return series;
}

template <class Value>
Panel panel_of(std::string title, const BenchOptions& options, const std::vector<Row>& rows,
               const Value& value) {
  Panel panel{.title = std::move(title), .series = {}};
  for (const bool in_place : {false, true}) {
    if (in_place ? !options.in_place : !options.out_of_place) continue;
    panel.series.push_back(series_of(rows, in_place, false, value));
    if (options.limit) panel.series.push_back(series_of(rows, in_place, true, value));
  }
  return panel;
}

}  // namespace

std::string to_svg(const BenchOptions& options, const std::vector<Row>& rows) {
  const Load& load = options.loads.front();
  const auto bandwidth = [](const Load& each, double seconds) {
    return bus_bandwidth(each, Figure{.seconds = seconds}) / 1e9;
  };
  const auto microseconds = [](const Load&, double seconds) { return seconds * 1e6; };
  return draw_chart(fmt::format("commrig bench {}: {}, {}{}", load.operation->name,
                                describe_ranks(options), dtype::info(load.dtype).name,
                                options.algorithms.empty() ? "" : ", " + options.algorithms),
                    {panel_of("Bus bandwidth (GB/s) over size", options, rows, bandwidth),
                     panel_of("Time (us) over size", options, rows, microseconds)});
}

}  // namespace commrig::cli::bench
