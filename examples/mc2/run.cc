// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/run.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/thread_executor.h"
#include "device/machine.h"
#include "dtype/convert.h"
#include "examples/mc2/golden.h"
#include "examples/mc2/matmul.h"
#include "mc2/group.h"

namespace commrig::operators {
namespace {

using dtype::Dtype;

constexpr std::size_t kSideMax = 1U << 20U;       // of m, k and n
constexpr std::uint64_t kBytesMax = 8ULL << 30U;  // of all buffers together

Result<GoldenType> golden_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFp16:
      return GoldenType::kFp16;
    case Dtype::kBf16:
      return GoldenType::kBf16;
    case Dtype::kFp32:
      return GoldenType::kFp32;
    default:
      break;
  }
  return Error::make(
      Code::kBadArgument,
      fmt::format("type {}; the operator takes fp16, bf16 and fp32", dtype::info(dtype).name));
}

Status check_options(const RunOptions& options) {
  COMMRIG_TRY(golden_type(options.dtype));
  const auto [m, k, n] = options.shape;
  for (const std::size_t side : {m, k, n}) {
    if (side >= 1 && side <= kSideMax) continue;
    return Error::make(Code::kBadArgument,
                       fmt::format("shape {}x{}x{}; each side is 1 to {}", m, k, n, kSideMax));
  }
  if (options.ranks < 1 || options.ranks > static_cast<int>(mc2::kRanksMax)) {
    return Error::make(Code::kRankCount, fmt::format("{} ranks asked for, 1 to {} are possible",
                                                     options.ranks, mc2::kRanksMax));
  }
  // On each rank inputs, output and the wide forms of them; the inputs again where they are made;
  // and the reference: inputs and two matrices in fp64.
  const auto ranks = static_cast<std::uint64_t>(options.ranks);
  const std::uint64_t inputs = ranks * m * k + k * n;
  const std::uint64_t results = ranks * m * n;
  const std::uint64_t bytes = 8 * (ranks * (m * k + k * n + results) + 2 * inputs + 2 * results);
  if (bytes <= kBytesMax) return ok();
  return Error::make(
      Code::kBadArgument,
      fmt::format("shape {}x{}x{} on {} ranks needs about {} MiB, at most {} MiB are used", m, k, n,
                  ranks, bytes >> 20U, kBytesMax >> 20U));
}

// Not more than there are rows.
std::size_t tile_rows_of(const RunOptions& options) {
  const std::size_t rows = options.shape.m;
  if (options.tile_rows == 0) return std::max<std::size_t>(1, rows / 8);
  return std::min(options.tile_rows, rows);
}

// `count` values uniform in [-1, 1), rounded to the type.
Result<std::vector<std::byte>> random_elements(Rng& rng, Dtype dtype, std::size_t count) {
  std::vector<double> values(count);
  for (double& value : values) value = 2 * rng.uniform() - 1;
  std::vector<std::byte> out(count * dtype::size_of(dtype));
  COMMRIG_TRY(dtype::convert(Dtype::kFp64, values.data(), dtype, out.data(), count));
  return out;
}

// Every rank's output must have the bits of rank 0's.
Status check_same_bits(const RunOptions& options, std::size_t count,
                       std::span<const void* const> outputs) {
  const std::size_t size = dtype::size_of(options.dtype);
  for (std::size_t rank = 1; rank < outputs.size(); ++rank) {
    const auto* const first = static_cast<const std::byte*>(outputs[0]);
    const auto* const other = static_cast<const std::byte*>(outputs[rank]);
    const auto at =
        static_cast<std::size_t>(std::mismatch(first, first + count * size, other).first - first);
    if (at == count * size) continue;
    return Error::make(Code::kWrongResult,
                       fmt::format("rank {}, row {}, column {}: its bits are not those of rank 0",
                                   rank, at / size / options.shape.n, at / size % options.shape.n));
  }
  return ok();
}

// One run: machine, group, buffers, and the launch of one kernel a rank.
class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options),
        ranks_(static_cast<std::size_t>(options.ranks)),
        tile_rows_(tile_rows_of(options)),
        machine_(executor_, events_, {.devices = options.ranks}) {
    events_.subscribe(recorder_);
    if (options.observer != nullptr) events_.subscribe(*options.observer);
  }
  ~Run() {
    if (options_.observer != nullptr) events_.unsubscribe(*options_.observer);
    events_.unsubscribe(recorder_);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Result<RunReport> run() {
    COMMRIG_ASSIGN(layout_, mc2::find_layout(options_.layout));
    COMMRIG_TRY(check_tiles(options_.shape.m, tile_rows_, *layout_));
    COMMRIG_TRY(make_inputs());
    COMMRIG_TRY(make_buffers());
    COMMRIG_TRY(warm_up());
    const Nanos start = executor_.now();
    COMMRIG_TRY(launch_all());
    COMMRIG_TRY(synchronize_all());
    const Nanos end = executor_.now();
    RunReport report;
    report.tile_rows = tile_rows_;
    report.tiles = tiles_of(options_.shape.m, tile_rows_);
    report.seconds = static_cast<double>((end - start).count()) * 1e-9;
    report.messages = group_->counts().messages;
    report.turns = group_->counts().turns;
    report.overlap = overlap_of(recorder_.events(), report.tiles);
    COMMRIG_ASSIGN(report.worst, check_outputs());
    return report;
  }

 private:
  struct Buffers {
    void* x1;
    void* x2;
    void* output;
  };

  Status make_inputs() {
    const auto [m, k, n] = options_.shape;
    Rng rng(options_.seed);
    COMMRIG_ASSIGN(x1_, random_elements(rng, options_.dtype, ranks_ * m * k));
    COMMRIG_ASSIGN(x2_, random_elements(rng, options_.dtype, k * n));
    return ok();
  }

  Status make_buffers() {
    // The operator moves nothing through windows.
    COMMRIG_ASSIGN(
        group_, mc2::Group::create(
                    machine_, {.layout = layout_, .ranks = options_.ranks, .window_bytes = 4096}));
    const std::size_t rows_bytes = x1_.size() / ranks_;
    const std::size_t output_bytes =
        ranks_ * options_.shape.m * options_.shape.n * dtype::size_of(options_.dtype);
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const int device = static_cast<int>(rank);
      Buffers each{};
      COMMRIG_ASSIGN(each.x1, machine_.memory().allocate(device, rows_bytes));
      COMMRIG_ASSIGN(each.x2, machine_.memory().allocate(device, x2_.size()));
      COMMRIG_ASSIGN(each.output, machine_.memory().allocate(device, output_bytes));
      std::memcpy(each.x1, x1_.data() + rank * rows_bytes, rows_bytes);
      std::memcpy(each.x2, x2_.data(), x2_.size());
      // A block that nobody writes must not look right by chance.
      std::memset(each.output, 0xFF, output_bytes);
      buffers_.push_back(each);
      COMMRIG_ASSIGN(std::unique_ptr<device::Stream> stream, machine_.create_stream(device));
      streams_.push_back(std::move(stream));
    }
    return ok();
  }

  // The library compiles its loops at their first use, which is no work of the operator's.
  Status warm_up() const {
    const auto [m, k, n] = options_.shape;
    const std::size_t rows = std::min(tile_rows_, m);
    const std::vector<float> a(rows * k);
    const std::vector<float> b(k * n);
    std::vector<float> c(rows * n);
    return matmul(a.data(), b.data(), c.data(), rows, k, n);
  }

  Status launch_all() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const int number = static_cast<int>(rank);
      const AllGatherMatmulArgs args{.context = group_->context(number),
                                     .layout = layout_,
                                     .x1 = buffers_[rank].x1,
                                     .x2 = buffers_[rank].x2,
                                     .output = buffers_[rank].output,
                                     .shape = options_.shape,
                                     .tile_rows = tile_rows_,
                                     .dtype = options_.dtype,
                                     .commit_at_end = options_.commit_at_end};
      COMMRIG_TRY(device::launch(*streams_[rank],
                                 group_->launch_config(number, "all-gather-matmul"),
                                 all_gather_matmul, args));
    }
    return ok();
  }

  // What the server found says more than what the ranks saw of it.
  Status synchronize_all() {
    Status first = ok();
    for (const auto& stream : streams_) {
      Status status = machine_.synchronize(*stream);
      if (first.has_value() && !status.has_value()) first = std::move(status);
    }
    if (const std::optional<Finding> finding = group_->finding()) return to_error(*finding);
    return first;
  }

  Result<WorstElement> check_outputs() const {
    const auto [m, k, n] = options_.shape;
    COMMRIG_ASSIGN(const GoldenType type, golden_type(options_.dtype));
    const GoldenMatrix expected = golden_matmul(type, x1_.data(), x2_.data(), ranks_ * m, k, n);
    std::vector<const void*> outputs;
    outputs.reserve(buffers_.size());
    for (const Buffers& each : buffers_) outputs.push_back(each.output);
    return compare_outputs(options_, expected, outputs);
  }

  const RunOptions& options_;
  std::size_t ranks_;
  std::size_t tile_rows_;
  ThreadExecutor executor_;
  EventStream events_;
  EventRecorder recorder_;
  device::Machine machine_;
  const mc2::Layout* layout_ = nullptr;
  std::unique_ptr<mc2::Group> group_;
  std::vector<std::byte> x1_;
  std::vector<std::byte> x2_;
  std::vector<Buffers> buffers_;
  std::vector<std::unique_ptr<device::Stream>> streams_;
};

}  // namespace

Result<RunReport> run_all_gather_matmul(const RunOptions& options) {
  COMMRIG_TRY(check_options(options));
  return Run(options).run();
}

Result<WorstElement> compare_outputs(const RunOptions& options, const GoldenMatrix& expected,
                                     std::span<const void* const> outputs) {
  COMMRIG_ASSIGN(const GoldenType type, golden_type(options.dtype));
  WorstElement worst;
  double worst_ratio = -1;
  for (std::size_t rank = 0; rank < outputs.size(); ++rank) {
    for (std::size_t i = 0; i < expected.value.size(); ++i) {
      const double found = golden_value(type, outputs[rank], i);
      const double error = std::abs(found - expected.value[i]);
      const double bound =
          golden_bound(type, options.shape.k, expected.value[i], expected.magnitude[i]);
      // A NaN is worse than any number.
      const double ratio =
          std::isnan(error) ? std::numeric_limits<double>::infinity() : error / bound;
      if (ratio <= worst_ratio) continue;
      worst_ratio = ratio;
      worst = {.rank = static_cast<int>(rank),
               .row = i / options.shape.n,
               .column = i % options.shape.n,
               .expected = expected.value[i],
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
  COMMRIG_TRY(check_same_bits(options, expected.value.size(), outputs));
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
