// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/compare.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "examples/mc2/tiled_matmul.h"
#include "mc2/engine.h"

namespace commrig::operators {
namespace {

// What is wrong with one element, larger being worse; above 1: outside its bound.
double badness(double error, double bound) {
  // A NaN is worse than any number.
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error / bound;
}

// Where two ranks hold the same rows, their bits must be the same.
Status check_same_bits(const Comparison& comparison, std::span<const RankOutput> outputs) {
  const std::size_t size = comparison.type == GoldenType::kFp32 ? 4 : 2;
  for (std::size_t rank = 1; rank < outputs.size(); ++rank) {
    const RankOutput& first = outputs[0];
    const RankOutput& other = outputs[rank];
    if (other.first_row != first.first_row) continue;
    const std::size_t bytes = other.rows * comparison.columns * size;
    const auto* const left = static_cast<const std::byte*>(first.elements);
    const auto* const right = static_cast<const std::byte*>(other.elements);
    const auto at = static_cast<std::size_t>(std::mismatch(left, left + bytes, right).first - left);
    if (at == bytes) continue;
    return Error::make(
        Code::kWrongResult,
        fmt::format("rank {}, row {}, column {}: its bits are not those of rank 0", rank,
                    at / size / comparison.columns, at / size % comparison.columns));
  }
  return ok();
}

}  // namespace

Result<WorstElement> compare_outputs(const Comparison& comparison, const GoldenMatrix& expected,
                                     std::span<const RankOutput> outputs) {
  WorstElement worst;
  double worst_badness = -1;
  for (std::size_t rank = 0; rank < outputs.size(); ++rank) {
    const RankOutput& output = outputs[rank];
    for (std::size_t i = 0; i < output.rows * comparison.columns; ++i) {
      const std::size_t at = output.first_row * comparison.columns + i;
      const double found = golden_value(comparison.type, output.elements, i);
      const double error = std::abs(found - expected.value[at]);
      const double bound = golden_bound(comparison.type, comparison.inner, expected.value[at],
                                        expected.magnitude[at]);
      if (badness(error, bound) <= worst_badness) continue;
      worst_badness = badness(error, bound);
      worst = {.rank = static_cast<int>(rank),
               .row = i / comparison.columns,
               .column = i % comparison.columns,
               .expected = expected.value[at],
               .found = found,
               .error = error,
               .bound = bound};
    }
  }
  if (!worst.inside()) {
    return Error::make(
        Code::kWrongResult,
        fmt::format("rank {}, row {}, column {}: expected {} within {}, found {}", worst.rank,
                    worst.row, worst.column, worst.expected, worst.bound, worst.found));
  }
  COMMRIG_TRY(check_same_bits(comparison, outputs));
  return worst;
}

double overlap_of(std::span<const Event> events, std::size_t tiles) {
  if (tiles < 2) return 1;
  // The kernel prepares its messages in the order of the tiles, so slot and turn number order them,
  // even where a server takes a later message first.
  std::map<std::pair<std::int64_t, std::int64_t>, Nanos> turn_begin;
  std::map<std::int64_t, Nanos> product_end;
  for (const Event& event : events) {
    const std::string_view name = event.name;
    if (name == mc2::kTurnEvent && event.phase == Phase::kBegin) {
      turn_begin[{event.a, event.b}] = event.time;
    }
    if (name == kTileEvent && event.phase == Phase::kEnd) {
      Nanos& end = product_end[event.a];
      end = std::max(end, event.time);
    }
  }
  std::size_t overlapped = 0;
  std::int64_t tile = 0;
  for (const auto& [turn, begin] : turn_begin) {
    const auto next = product_end.find(++tile);
    if (next != product_end.end() && begin < next->second) ++overlapped;
  }
  return static_cast<double>(overlapped) / static_cast<double>(tiles - 1);
}

}  // namespace commrig::operators
