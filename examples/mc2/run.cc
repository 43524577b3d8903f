// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/run.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/crew.h"
#include "base/rng.h"
#include "base/thread_executor.h"
#include "device/machine.h"
#include "dtype/convert.h"
#include "examples/mc2/golden.h"
#include "examples/mc2/matmul.h"
#include "examples/mc2/operators.h"
#include "examples/mc2/tiles.h"
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

Status check_shape(const RunOptions& options, const OperatorInfo& op) {
  const auto [m, k, n] = options.shape;
  for (const std::size_t side : {m, k, n}) {
    if (side >= 1 && side <= kSideMax) continue;
    return Error::make(Code::kBadArgument,
                       fmt::format("shape {}x{}x{}; each side is 1 to {}", m, k, n, kSideMax));
  }
  const auto ranks = static_cast<std::size_t>(options.ranks);
  if (op.splits_inner && m % ranks != 0) {
    return Error::make(Code::kBadArgument,
                       fmt::format("{} of {} rows on {} ranks; M must be a multiple of the ranks",
                                   op.name, m, ranks));
  }
  // The inputs where they are made and on each rank, where they become wide; scratch and outputs;
  // and the reference: x2 and two matrices in fp64.
  const std::size_t x2 = (op.splits_inner ? ranks : 1) * k * n;
  const std::size_t results = (op.splits_inner ? 1 : ranks) * m * n;
  const std::size_t bytes =
      4 * (2 * ranks * m * k + x2 + 2 * ranks * k * n) +
      4 * ranks * (op.output_rows(m, ranks) * n + op.scratch(options.shape, ranks)) +
      8 * (x2 + 2 * results);
  if (bytes <= kBytesMax) return ok();
  return Error::make(
      Code::kBadArgument,
      fmt::format("shape {}x{}x{} on {} ranks needs about {} MiB, at most {} MiB are used", m, k, n,
                  ranks, bytes >> 20U, kBytesMax >> 20U));
}

Result<const OperatorInfo*> check_options(const RunOptions& options) {
  const OperatorInfo* const op = find_operator(options.op);
  if (op == nullptr) {
    return Error::make(Code::kBadArgument, fmt::format("no operator is called {}", options.op));
  }
  COMMRIG_TRY(golden_type(options.dtype));
  if (options.ranks < 1 || options.ranks > static_cast<int>(mc2::kRanksMax)) {
    return Error::make(Code::kRankCount, fmt::format("{} ranks asked for, 1 to {} are possible",
                                                     options.ranks, mc2::kRanksMax));
  }
  if (options.devices < 0 || options.devices > options.ranks) {
    return Error::make(Code::kBadArgument,
                       fmt::format("{} devices for {} ranks; 1 to {} can be used", options.devices,
                                   options.ranks, options.ranks));
  }
  COMMRIG_TRY(check_shape(options, *op));
  return op;
}

// Not more than there are rows.
std::size_t tile_rows_of(const RunOptions& options, std::size_t rows) {
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

// The product of all ranks' inputs. `x1` and `x2` hold the ranks' parts one after the other.
class Reference {
 public:
  Reference(const OperatorInfo& op, const RunOptions& options)
      : parts_(op.splits_inner ? static_cast<std::size_t>(options.ranks) : 1),
        inner_(parts_ * options.shape.k),
        rows_(static_cast<std::size_t>(options.ranks) / parts_ * options.shape.m),
        columns_(options.shape.n),
        part_bytes_(options.shape.k * dtype::size_of(options.dtype)) {}

  std::size_t inner() const { return inner_; }

  // Blocks of rows, several at a time.
  GoldenMatrix compute(Executor& executor, GoldenType type, std::span<const std::byte> x1,
                       std::span<const std::byte> x2) const {
    GoldenMatrix all{std::vector<double>(rows_ * columns_), std::vector<double>(rows_ * columns_)};
    const std::vector<double> right = golden_values(type, x2.data(), inner_ * columns_);
    constexpr std::size_t kBlock = 16;
    Crew crew(executor, std::max(0, executor.spare_cores() - 1));
    crew.run((rows_ + kBlock - 1) / kBlock, [&](std::size_t block) {
      const std::size_t row = block * kBlock;
      const std::size_t rows = std::min(kBlock, rows_ - row);
      const std::vector<std::byte> left = left_rows(x1, row, rows);
      const GoldenMatrix part = golden_matmul(type, left.data(), right,
                                              {.rows = rows, .inner = inner_, .columns = columns_});
      std::ranges::copy(part.value,
                        all.value.begin() + static_cast<std::ptrdiff_t>(row * columns_));
      std::ranges::copy(part.magnitude,
                        all.magnitude.begin() + static_cast<std::ptrdiff_t>(row * columns_));
    });
    return all;
  }

 private:
  // Rows of the whole left side: where the ranks hold parts of each row, these are put together.
  std::vector<std::byte> left_rows(std::span<const std::byte> x1, std::size_t row,
                                   std::size_t rows) const {
    std::vector<std::byte> out;
    out.reserve(rows * parts_ * part_bytes_);
    for (std::size_t i = row; i < row + rows; ++i) {
      for (std::size_t part = 0; part < parts_; ++part) {
        const auto each = x1.subspan((part * rows_ + i) * part_bytes_, part_bytes_);
        out.insert(out.end(), each.begin(), each.end());
      }
    }
    return out;
  }

  std::size_t parts_;  // of each row of the left side
  std::size_t inner_;
  std::size_t rows_;
  std::size_t columns_;
  std::size_t part_bytes_;  // of the part of a row that one rank holds
};

// One run: machine, group, buffers, and the launch of one kernel a rank.
class Run {
 public:
  Run(const RunOptions& options, const OperatorInfo& op)
      : options_(options),
        op_(op),
        ranks_(static_cast<std::size_t>(options.ranks)),
        rows_(op.tiled_rows(options.shape.m, ranks_)),
        tile_rows_(tile_rows_of(options, rows_)),
        machine_(executor_, events_,
                 {.devices = options.devices != 0 ? options.devices : options.ranks}) {
    machine_.set_host_threads(1);
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
    COMMRIG_TRY(check_tiles(rows_, tile_rows_, *layout_));
    COMMRIG_TRY(make_inputs());
    COMMRIG_TRY(make_buffers());
    COMMRIG_TRY(warm_up());
    const Nanos start = executor_.now();
    if (Status launched = launch_all(); !launched) {
      // Those that were launched wait for the others.
      machine_.abort(launched.error());
      return launched.error();
    }
    COMMRIG_TRY(synchronize_all());
    const Nanos end = executor_.now();
    RunReport report;
    report.tile_rows = tile_rows_;
    report.tiles = tiles_of(rows_, tile_rows_);
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
    void* scratch;  // null: none
  };

  Status make_inputs() {
    const auto [m, k, n] = options_.shape;
    Rng rng(options_.seed);
    COMMRIG_ASSIGN(x1_, random_elements(rng, options_.dtype, ranks_ * m * k));
    COMMRIG_ASSIGN(x2_, random_elements(rng, options_.dtype, x2_parts() * k * n));
    return ok();
  }

  Status make_buffers() {
    // The operator moves nothing through windows.
    COMMRIG_ASSIGN(
        group_, mc2::Group::create(
                    machine_, {.layout = layout_, .ranks = options_.ranks, .window_bytes = 4096}));
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const int device = group_->device_of(static_cast<int>(rank));
      COMMRIG_ASSIGN(const Buffers buffers, make_rank_buffers(rank, device));
      buffers_.push_back(buffers);
      COMMRIG_ASSIGN(std::unique_ptr<device::Stream> stream, machine_.create_stream(device));
      streams_.push_back(std::move(stream));
    }
    return ok();
  }

  Result<Buffers> make_rank_buffers(std::size_t rank, int device) {
    device::Memory& memory = machine_.memory();
    const std::size_t x1_bytes = x1_.size() / ranks_;
    const std::size_t x2_bytes = x2_.size() / x2_parts();
    const std::size_t output_bytes =
        output_rows() * options_.shape.n * dtype::size_of(options_.dtype);
    const std::size_t scratch = op_.scratch(options_.shape, ranks_);
    Buffers each{};
    COMMRIG_ASSIGN(each.x1, memory.allocate(device, x1_bytes));
    COMMRIG_ASSIGN(each.x2, memory.allocate(device, x2_bytes));
    COMMRIG_ASSIGN(each.output, memory.allocate(device, output_bytes));
    if (scratch != 0) {
      COMMRIG_ASSIGN(each.scratch, memory.allocate(device, scratch * sizeof(float)));
    }
    std::memcpy(each.x1, x1_.data() + rank * x1_bytes, x1_bytes);
    std::memcpy(each.x2, x2_.data() + rank % x2_parts() * x2_bytes, x2_bytes);
    // A block that nobody writes must not look right by chance.
    std::memset(each.output, 0xFF, output_bytes);
    return each;
  }

  std::size_t x2_parts() const { return op_.splits_inner ? ranks_ : 1; }
  std::size_t output_rows() const { return op_.output_rows(options_.shape.m, ranks_); }

  // The library compiles its loops at their first use, which is no work of the operator's.
  Status warm_up() const {
    const std::size_t k = options_.shape.k;
    const std::size_t n = options_.shape.n;
    const std::size_t rows = tile_rows_;
    const std::vector<float> a(rows * k);
    const std::vector<float> b(k * n);
    std::vector<float> c(rows * n);
    return matmul(a.data(), b.data(), c.data(), rows, k, n);
  }

  Status launch_all() {
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      const int number = static_cast<int>(rank);
      const MatmulArgs args{.context = group_->context(number),
                            .layout = layout_,
                            .x1 = buffers_[rank].x1,
                            .x2 = buffers_[rank].x2,
                            .output = buffers_[rank].output,
                            .scratch = buffers_[rank].scratch,
                            .shape = options_.shape,
                            .tile_rows = tile_rows_,
                            .dtype = options_.dtype,
                            .commit_at_end = options_.commit_at_end};
      COMMRIG_TRY(device::launch(*streams_[rank], group_->launch_config(number, op_.name),
                                 op_.kernel, args));
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

  Result<WorstElement> check_outputs() {
    COMMRIG_ASSIGN(const GoldenType type, golden_type(options_.dtype));
    const Reference reference(op_, options_);
    const GoldenMatrix expected = reference.compute(executor_, type, x1_, x2_);
    std::vector<RankOutput> outputs;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      outputs.push_back({.elements = buffers_[rank].output,
                         .first_row = op_.first_row(options_.shape.m, ranks_, rank),
                         .rows = output_rows()});
    }
    return compare_outputs({.type = type, .inner = reference.inner(), .columns = options_.shape.n},
                           expected, outputs);
  }

  const RunOptions& options_;
  const OperatorInfo& op_;
  std::size_t ranks_;
  std::size_t rows_;  // that are cut into tiles
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

Result<RunReport> run_operator(const RunOptions& options) {
  COMMRIG_ASSIGN(const OperatorInfo* const op, check_options(options));
  return Run(options, *op).run();
}

}  // namespace commrig::operators
