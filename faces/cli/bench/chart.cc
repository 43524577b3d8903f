// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/cli/bench/chart.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace commrig::cli::bench {
namespace {

constexpr double kWidth = 720;
constexpr double kPanelHeight = 330;
constexpr double kTop = 50;
constexpr double kLeft = 80;
constexpr double kPlotWidth = 480;
constexpr double kPlotHeight = 250;

// From 10^a (2^a below) to the pixels of an axis.
struct Axis {
  double low = 0;
  double high = 1;
  double place(double exponent) const { return (exponent - low) / (high - low); }
};

// The whole exponents around the values.
Axis axis_of(double least, double most) {
  const double low = std::floor(least + 1e-9);
  return {low, std::max(low + 1, std::ceil(most - 1e-9))};
}

struct Frame {
  Axis x;  // exponents of 2
  Axis y;  // exponents of 10
  double top = 0;
  double px(double value) const { return kLeft + kPlotWidth * x.place(std::log2(value)); }
  double py(double value) const { return top + kPlotHeight * (1 - y.place(std::log10(value))); }
};

Frame frame_of(const Panel& panel, double top) {
  double x_least = INFINITY;
  double x_most = -INFINITY;
  double y_least = INFINITY;
  double y_most = -INFINITY;
  for (const Series& series : panel.series) {
    for (const auto& [x, y] : series.points) {
      x_least = std::min(x_least, std::log2(x));
      x_most = std::max(x_most, std::log2(x));
      y_least = std::min(y_least, std::log10(y));
      y_most = std::max(y_most, std::log10(y));
    }
  }
  if (!(x_least <= x_most)) return {{}, {}, top};  // no points at all
  return {axis_of(x_least, x_most), axis_of(y_least, y_most), top};
}

std::string bytes_text(double exponent) {
  const int e = static_cast<int>(exponent);
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return fmt::format("{} {}", 1 << e % 10, units[std::clamp(e / 10, 0, 4)]);
}

std::string line(double x1, double y1, double x2, double y2, const char* style) {
  return fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" class="{}"/>)"
                     "\n",
                     x1, y1, x2, y2, style);
}

std::string text(double x, double y, const char* anchor, const std::string& words) {
  std::string escaped;
  for (const char c : words) {
    escaped += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
  }
  return fmt::format(R"(<text x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>)"
                     "\n",
                     x, y, anchor, escaped);
}

std::string draw_axes(const Panel& panel, const Frame& frame) {
  const double bottom = frame.top + kPlotHeight;
  std::string svg = text(kLeft, frame.top - 10, "start", panel.title);
  const double step = std::max(1.0, std::ceil((frame.x.high - frame.x.low) / 8));
  for (double e = frame.x.low; e <= frame.x.high; e += step) {
    const double x = frame.px(std::exp2(e));
    svg += line(x, frame.top, x, bottom, "grid") + text(x, bottom + 18, "middle", bytes_text(e));
  }
  for (double e = frame.y.low; e <= frame.y.high; ++e) {
    const double y = frame.py(std::pow(10, e));
    svg += line(kLeft, y, kLeft + kPlotWidth, y, "grid");
    svg += text(kLeft - 6, y + 4, "end", fmt::format("{:g}", std::pow(10, e)));
  }
  return svg;
}

std::string draw_series(const Series& series, const Frame& frame, double legend_y) {
  if (series.points.empty()) return "";
  std::string path;
  std::string dots;
  for (const auto& [x, y] : series.points) {
    path += fmt::format("{:.1f},{:.1f} ", frame.px(x), frame.py(y));
    if (series.dashed) continue;
    dots += fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}">)"
                        R"(<title>{:.0f} B: {:.4g}</title></circle>)"
                        "\n",
                        frame.px(x), frame.py(y), series.colour, x, y);
  }
  const char* const dashes = series.dashed ? R"( stroke-dasharray="6 4")" : "";
  std::string svg =
      fmt::format(R"(<polyline points="{}" fill="none" stroke="{}" stroke-width="2"{}/>)"
                  "\n",
                  path, series.colour, dashes);
  const double x = kLeft + kPlotWidth + 16;
  svg += fmt::format(
      R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="2"{}/>)"
      "\n",
      x, legend_y, x + 24, legend_y, series.colour, dashes);
  return svg + dots + text(x + 30, legend_y + 4, "start", series.name);
}

}  // namespace

std::string draw_chart(const std::string& title, const std::vector<Panel>& panels) {
  const double height = kTop + kPanelHeight * static_cast<double>(panels.size());
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" viewBox="0 0 {0:.0f} {1:.0f}">
<style>text {{ font: 12px sans-serif }} .grid {{ stroke: #ddd }}</style>
<rect width="{0:.0f}" height="{1:.0f}" fill="white"/>
)",
      kWidth, height);
  svg += text(kLeft, 24, "start", title);
  double top = kTop + 20;
  for (const Panel& panel : panels) {
    const Frame frame = frame_of(panel, top);
    svg += draw_axes(panel, frame);
    double legend_y = top + 10;
    for (const Series& series : panel.series) {
      svg += draw_series(series, frame, legend_y);
      legend_y += 20;
    }
    top += kPanelHeight;
  }
  return svg + "</svg>\n";
}

}  // namespace commrig::cli::bench
