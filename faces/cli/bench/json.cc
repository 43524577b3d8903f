// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <nlohmann/json.hpp>

#include "faces/cli/bench/table.h"

namespace commrig::cli::bench {
namespace {

nlohmann::json to_object(const Load& load, const std::optional<Cell>& cell) {
  if (!cell) return {};
  nlohmann::json object{
      {"seconds", cell->figure.seconds},
      {"algorithm_bytes_per_second", algorithm_bandwidth(load, cell->figure)},
      {"bus_bytes_per_second", bus_bandwidth(load, cell->figure)},
      {"wrong", cell->figure.wrong},
  };
  if (cell->limit_seconds) object["limit_seconds"] = *cell->limit_seconds;
  return object;
}

}  // namespace

std::string to_json(const BenchOptions& options, const std::vector<Row>& rows) {
  const Load& load = options.loads.front();
  nlohmann::json lines = nlohmann::json::array();
  for (const Row& row : rows) {
    lines.push_back({{"bytes", row.load.size()},
                     {"count", row.load.count},
                     {"out_of_place", to_object(row.load, row.out_of_place)},
                     {"in_place", to_object(row.load, row.in_place)}});
  }
  const nlohmann::json report{
      {"operation", load.operation->name},
      {"ranks", load.ranks},
      {"ranks_are", options.processes == 1 ? "threads" : "processes"},
      {"processes", options.processes},
      {"link", link_name(options)},
      {"dtype", dtype::info(load.dtype).name},
      {"op", load.combines() ? nlohmann::json(dtype::name(load.op)) : nlohmann::json()},
      {"root", load.rooted() ? nlohmann::json(load.root) : nlohmann::json()},
      {"algorithms", options.algorithms},
      {"strict", options.communicator.strict},
      {"shared_memory", !options.communicator.messages_only},
      {"iterations", options.effort.iterations},
      {"warm_up", options.effort.warm_up},
      {"repeats", options.effort.repeats},
      {"rows", lines},
      {"wrong", wrong_elements(rows)},
  };
  return report.dump(2) + "\n";
}

}  // namespace commrig::cli::bench
