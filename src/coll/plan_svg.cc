// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/plan_svg.h"

#include <array>

#include <fmt/format.h>

#include "coll/plan_text.h"
#include "coll/timeline.h"

namespace commrig::coll {
namespace {

constexpr int kColumnWidth = 150;
constexpr int kBoxWidth = 120;
constexpr int kRowHeight = 30;
constexpr int kBoxHeight = 20;
constexpr int kLeft = 30;
constexpr int kTop = 80;

// In the order of StepKind.
constexpr std::array<std::string_view, 8> kColours{"#cfe8cf", "#f6d5a8", "#f3f0a3", "#e6e6e6",
                                                   "#e6e6e6", "#bcd9f2", "#d9c8ee", "#e6e6e6"};

int x_of(int rank) {
  return kLeft + rank * kColumnWidth;
}
int y_of(std::size_t row) {
  return kTop + static_cast<int>(row) * kRowHeight;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// What fits into a box.
std::string label(const Step& step) {
  const std::string peer = step.peer == kEveryone ? "all" : std::to_string(step.peer);
  switch (step.kind) {
    case StepKind::kCopy:
    case StepKind::kReduce:
      return fmt::format("{} {}", name(step.kind), step.count);
    case StepKind::kSignal:
      return fmt::format("signal {}", step.phase);
    case StepKind::kWait:
      return fmt::format("wait {} of {}", step.phase, peer);
    case StepKind::kSend:
      return fmt::format("send {} to {}", step.count, peer);
    case StepKind::kRecv:
      return fmt::format("recv {} from {}", step.count, peer);
    case StepKind::kReclaim:
      return fmt::format("reclaim {}", peer);
    default:
      return std::string(name(step.kind));
  }
}

std::string box(const RankPlan& plan, int rank, std::size_t index, std::size_t row) {
  const Step& step = plan.steps[index];
  return fmt::format(
      R"(<g><title>rank {}, step {}: {}</title><rect x="{}" y="{}" width="{}" height="{}" rx="3" )"
      R"(fill="{}" stroke="#555"/><text x="{}" y="{}">{}</text></g>)"
      "\n",
      rank, index, escaped(to_string(plan, step)), x_of(rank), y_of(row), kBoxWidth, kBoxHeight,
      kColours.at(static_cast<std::size_t>(step.kind)), x_of(rank) + 5, y_of(row) + 14,
      escaped(label(step)));
}

std::string line(const Timeline& timeline, const Arrow& arrow) {
  const auto row = [&](const StepId& id) {
    return timeline.rows[static_cast<std::size_t>(id.rank)][id.step];
  };
  const bool right = arrow.to.rank > arrow.from.rank;
  const int middle = kBoxHeight / 2;
  return fmt::format(
      R"svg(<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}" marker-end="url(#head)"/>)svg"
      "\n",
      x_of(arrow.from.rank) + (right ? kBoxWidth : 0), y_of(row(arrow.from)) + middle,
      x_of(arrow.to.rank) + (right ? 0 : kBoxWidth), y_of(row(arrow.to)) + middle,
      arrow.message ? "message" : "signal");
}

}  // namespace

std::string draw_svg(const PlanSet& set, std::string_view title) {
  const Timeline timeline = lay_out(set);
  const int width = x_of(set.request.ranks) + kLeft;
  const int height = y_of(timeline.end) + kLeft;
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}">)"
      R"(
<style>
text {{ font: 12px sans-serif }} line {{ stroke: #333 }} .signal {{ stroke-dasharray: 4 3 }}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"
orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
<rect width="{0}" height="{1}" fill="white"/>
<text x="{2}" y="28" style="font-size: 16px">{3}</text>
)",
      width, height, kLeft, escaped(title));
  for (int rank = 0; rank < set.request.ranks; ++rank) {
    svg += fmt::format("<text x=\"{}\" y=\"{}\">rank {}</text>\n", x_of(rank) + 5, kTop - 12, rank);
  }
  for (int rank = 0; rank < set.request.ranks; ++rank) {
    const RankPlan& plan = set.plans[static_cast<std::size_t>(rank)];
    const auto& rows = timeline.rows[static_cast<std::size_t>(rank)];
    for (std::size_t i = 0; i < rows.size(); ++i) svg += box(plan, rank, i, rows[i]);
  }
  for (const Arrow& arrow : timeline.arrows) svg += line(timeline, arrow);
  return svg + "</svg>\n";
}

}  // namespace commrig::coll
