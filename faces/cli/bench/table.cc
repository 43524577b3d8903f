// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/table.h"

#include <fmt/format.h>

namespace commrig::cli::bench {
namespace {

constexpr double kGiga = 1e9;
constexpr double kMicro = 1e-6;

std::string cell(const std::optional<Cell>& cell, const Load& load, bool limit) {
  if (!cell) return limit ? fmt::format(" {:>43}", "") : fmt::format(" {:>34}", "");
  const Figure& figure = cell->figure;
  std::string text = fmt::format(" {:>10.2f} {:>7.2f} {:>7.2f} {:>7}", figure.seconds / kMicro,
                                 algorithm_bandwidth(load, figure) / kGiga,
                                 bus_bandwidth(load, figure) / kGiga, figure.wrong);
  if (!limit) return text;
  if (!cell->limit_seconds) return text + fmt::format(" {:>8}", "-");
  return text + fmt::format(" {:>6.0f} %", 100 * *cell->limit_seconds / figure.seconds);
}

template <class Use>
void for_each_cell(const std::vector<Row>& rows, const Use& use) {
  for (const Row& row : rows) {
    for (const auto* const cell : {&row.out_of_place, &row.in_place}) {
      if (*cell) use(row.load, **cell);
    }
  }
}

}  // namespace

double algorithm_bandwidth(const Load& load, const Figure& figure) {
  return static_cast<double>(load.size()) / figure.seconds;
}

double bus_bandwidth(const Load& load, const Figure& figure) {
  return algorithm_bandwidth(load, figure) * load.operation->bus_factor(load.ranks);
}

std::string link_name(const BenchOptions& options) {
  return options.communicator.team.tcp_between_processes ? "tcp" : "shm";
}

std::string describe_ranks(const BenchOptions& options) {
  const int ranks = options.loads.front().ranks;
  if (options.processes == 1) return fmt::format("{} ranks as threads of one process", ranks);
  return fmt::format("{} ranks in {} processes, over {}", ranks, options.processes,
                     link_name(options));
}

std::string table_head(const BenchOptions& options) {
  const Load& load = options.loads.front();
  std::string text = fmt::format("# {}, {}{}{}\n", load.operation->name, describe_ranks(options),
                                 options.algorithms.empty() ? "" : ", " + options.algorithms,
                                 options.communicator.strict ? ", strict" : "");
  text += fmt::format(
      "# time: {} calls, waited for together; mean over ranks, median of {} repeats; {} calls to "
      "warm up\n",
      options.effort.iterations, options.effort.repeats, options.effort.warm_up);
  if (options.limit) {
    text += "# limit: the time that reading and writing as much would take, beside the time\n";
  }
  if (!options.note.empty()) text += fmt::format("# {}\n", options.note);
  std::string forms;
  std::string names;
  std::string units;
  for (const bool in_place : {false, true}) {
    if (in_place ? !options.in_place : !options.out_of_place) continue;
    const int width = options.limit ? 43 : 34;
    forms += fmt::format(" {:^{}}", in_place ? "in place" : "out of place", width);
    names += fmt::format(" {:>10} {:>7} {:>7} {:>7}", "time", "algbw", "busbw", "#wrong");
    units += fmt::format(" {:>10} {:>7} {:>7} {:>7}", "(us)", "(GB/s)", "(GB/s)", "");
    if (options.limit) names += fmt::format(" {:>8}", "limit");
    if (options.limit) units += fmt::format(" {:>8}", "(ratio)");
  }
  text += fmt::format("#{:>47}{}\n", "", forms);
  text += fmt::format("#{:>11} {:>11} {:>10} {:>6} {:>5}{}\n", "size", "count", "type", "redop",
                      "root", names);
  text +=
      fmt::format("#{:>11} {:>11} {:>10} {:>6} {:>5}{}\n", "(B)", "(elements)", "", "", "", units);
  return text;
}

std::string table_row(const BenchOptions& options, const Row& row) {
  const Load& load = row.load;
  std::string text = fmt::format(
      " {:>11} {:>11} {:>10} {:>6} {:>5}", load.size(), load.count, dtype::info(load.dtype).name,
      load.combines() ? dtype::name(load.op) : "none", load.rooted() ? load.root : -1);
  if (options.out_of_place) text += cell(row.out_of_place, load, options.limit);
  if (options.in_place) text += cell(row.in_place, load, options.limit);
  return text + "\n";
}

std::uint64_t wrong_elements(const std::vector<Row>& rows) {
  std::uint64_t wrong = 0;
  for_each_cell(rows, [&](const Load&, const Cell& cell) { wrong += cell.figure.wrong; });
  return wrong;
}

std::string table_foot(const std::vector<Row>& rows) {
  double sum = 0;
  int cells = 0;
  for_each_cell(rows, [&](const Load& load, const Cell& cell) {
    sum += bus_bandwidth(load, cell.figure);
    ++cells;
  });
  return fmt::format("# Wrong elements: {}\n# Avg bus bandwidth: {:.3f} GB/s\n",
                     wrong_elements(rows), cells == 0 ? 0 : sum / cells / kGiga);
}

}  // namespace commrig::cli::bench
