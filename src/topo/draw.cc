// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/draw.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "topo/draw_fold.h"

namespace commrig::topo {
namespace {

// Pixels.
constexpr int kCellWidth = 42;
constexpr int kCellHeight = 22;
constexpr int kCellsPerRow = 8;
constexpr int kPadding = 10;
constexpr int kTitleHeight = 20;
constexpr int kServersPerRow = 4;
constexpr int kServerWidth = kCellsPerRow * kCellWidth + 2 * kPadding;
constexpr int kRail = 16;  // above each row of servers
constexpr int kGap = 12;
constexpr int kMargin = 20;
constexpr int kTrunk = 24;  // left of the super pods
constexpr int kRowWidth = kServersPerRow * (kServerWidth + kGap) + kGap + kRail;
constexpr int kCharWidth = 8;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') {
      out += "&amp;";
    } else if (c == '<') {
      out += "&lt;";
    } else if (c == '>') {
      out += "&gt;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += static_cast<unsigned char>(c) < 0x20U ? ' ' : c;
    }
  }
  return out;
}

// Bold letters of 12 pixels, generously.
int pixels(std::string_view text) {
  int width = 0;
  for (const char c : text) {
    const bool widest = c == 'w' || c == 'm' || c == 'W' || c == 'M' || c == '@' || c == '%';
    const bool capital = c >= 'A' && c <= 'Z';
    width += widest ? 15 : capital ? 11 : kCharWidth;
  }
  return width;
}

// As much of a text as fits, the middle of a longer one left out.
std::string fitted(const std::string& text, int width) {
  const int whole = pixels(text);
  if (whole <= width) return escaped(text);
  const std::size_t most =
      text.size() * static_cast<std::size_t>(width - 15) / static_cast<std::size_t>(whole);
  const auto cut = [&text](std::size_t at) {  // never inside a character
    while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) {
      --at;
    }
    return at;
  };
  if (most < 4) return escaped(text.substr(0, cut(most)));
  const std::size_t head = cut(most / 2);
  const std::size_t tail = cut(text.size() - (most / 2 - 1));
  return escaped(text.substr(0, head)) + "\u2026" + escaped(text.substr(tail));
}

std::string label(int x, int y, std::string_view kind, const std::string& text, int width) {
  return fmt::format(R"(<text class="{}" x="{}" y="{}">{}</text>)", kind, x, y,
                     fitted(text, width));
}

std::string box(int x, int y, int width, int height, std::string_view kind) {
  return fmt::format(R"(<rect class="{}" x="{}" y="{}" width="{}" height="{}" rx="4"/>)", kind, x,
                     y, width, height);
}

std::string line(int x1, int y1, int x2, int y2, std::string_view kind) {
  return fmt::format(R"(<line class="{}" x1="{}" y1="{}" x2="{}" y2="{}"/>)", kind, x1, y1, x2, y2);
}

class Picture {
 public:
  explicit Picture(const Cluster& cluster) : cluster_(cluster) {}

  // Everything below the title; sets the height.
  std::string body() {
    int y = kMargin + kTitleHeight + kGap;
    const int rail = y;
    out_ += label(kMargin, y - 4, "note", network_name(), kRowWidth);
    y += kGap;
    const std::vector<int> pods = pod_numbers();
    int last_y = y;
    for (const Folded& pod : fold(pods, kPodsShown)) {
      last_y = y + kTitleHeight / 2;
      out_ += line(kMargin, last_y, kMargin + kTrunk, last_y, "between");
      y = pod.hidden.empty() ? draw_pod(pod.index, y) : draw_folded_pods(pod.hidden, y);
      y += kGap;
    }
    out_ += line(kMargin, rail, kMargin + kRowWidth, rail, "between");
    out_ += line(kMargin, rail, kMargin, last_y, "between");
    height_ = y + kMargin;
    return out_;
  }
  int height() const { return height_; }
  static int width() { return kMargin * 2 + kTrunk + kRowWidth; }

 private:
  std::string network_name() const {
    if (cluster_.form == Form::kV20) return "network: layers above the super pods";
    return cluster_.pods.empty() ? "network between servers: RoCE, by device address"
                                 : "network between super pods: RoCE, by device address";
  }

  // -1 for servers that are in none, if there are such.
  std::vector<int> pod_numbers() const {
    std::vector<int> pods;
    const bool loose =
        std::ranges::any_of(cluster_.servers, [](const Server& server) { return server.pod < 0; });
    if (loose) pods.push_back(-1);
    for (std::size_t i = 0; i < cluster_.pods.size(); ++i) pods.push_back(static_cast<int>(i));
    return pods;
  }

  std::vector<int> servers_of(int pod) const {
    if (pod >= 0) return cluster_.pods[static_cast<std::size_t>(pod)].servers;
    std::vector<int> servers;
    for (std::size_t i = 0; i < cluster_.servers.size(); ++i) {
      if (cluster_.servers[i].pod < 0) servers.push_back(static_cast<int>(i));
    }
    return servers;
  }

  int draw_folded_pods(const std::vector<int>& pods, int y) {
    std::vector<int> servers;
    for (const int pod : pods) {
      for (const int server : servers_of(pod)) servers.push_back(server);
    }
    out_ += R"(<g class="folded">)";
    out_ += box(kMargin + kTrunk, y, kRowWidth, 2 * kTitleHeight, "fold");
    out_ += label(kMargin + kTrunk + kPadding, y + kTitleHeight + 4, "name",
                  fmt::format("{} more super pods: {} servers, {}", pods.size(), servers.size(),
                              ranks_text(cluster_, servers)),
                  kRowWidth - 2 * kPadding);
    out_ += "</g>\n";
    return y + 2 * kTitleHeight;
  }

  int draw_pod(int pod, int y) {
    const std::vector<int> servers = servers_of(pod);
    const std::vector<Folded> shown =
        fold(servers, cluster_.pods.empty() ? kLooseServersShown : kServersShown);
    const int x = kMargin + kTrunk;
    // Servers outside of super pods have only the network.
    const std::string_view link = pod < 0 ? "between" : "within";
    std::string inside;
    std::swap(inside, out_);
    int row_y = y + kTitleHeight + kRail;
    int height = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const auto column = static_cast<int>(i) % kServersPerRow;
      if (column == 0 && i != 0) row_y += height + kRail + kGap;
      if (column == 0) height = row_height(shown, i);
      const int server_x = x + kRail + kGap + column * (kServerWidth + kGap);
      out_ += line(server_x + kServerWidth / 2, row_y - kRail / 2, server_x + kServerWidth / 2,
                   row_y, link);
      if (column == 0) {
        out_ +=
            line(x + kRail / 2, row_y - kRail / 2, x + kRowWidth - kGap, row_y - kRail / 2, link);
      }
      draw_server(shown[i], server_x, row_y, height);
    }
    const int bottom = row_y + height + kGap;
    out_ += line(x + kRail / 2, y + kTitleHeight / 2, x + kRail / 2, row_y - kRail / 2, link);
    const std::string drawn = std::move(out_);
    out_ = std::move(inside);
    out_ += R"(<g class="pod">)" + box(x, y, kRowWidth, bottom - y, "pod");
    const std::string name =
        pod < 0 ? fmt::format("{} servers, {}", servers.size(), ranks_text(cluster_, servers))
                : fmt::format("super pod {}: {} servers, {}",
                              cluster_.pods[static_cast<std::size_t>(pod)].id, servers.size(),
                              ranks_text(cluster_, servers));
    out_ += label(x + kRail + kGap, y + 15, "name", name, kRowWidth - 60);
    out_ += drawn + "</g>\n";
    return bottom;
  }

  static int server_height(std::size_t devices) {
    const std::size_t cells = std::min(devices, kDevicesShown);
    const int rows = static_cast<int>((cells + kCellsPerRow - 1) / kCellsPerRow);
    return kTitleHeight + std::max(rows, 1) * kCellHeight + kPadding;
  }

  int row_height(const std::vector<Folded>& shown, std::size_t first) const {
    int height = server_height(1);
    for (std::size_t i = first; i < std::min(shown.size(), first + kServersPerRow); ++i) {
      if (!shown[i].hidden.empty()) continue;
      const Server& server = cluster_.servers[static_cast<std::size_t>(shown[i].index)];
      height = std::max(height, server_height(server.ranks.size()));
    }
    return height;
  }

  void draw_server(const Folded& folded, int x, int y, int height) {
    if (!folded.hidden.empty()) {
      out_ += R"(<g class="folded">)" + box(x, y, kServerWidth, height, "fold");
      out_ +=
          label(x + kPadding, y + 15, "name", fmt::format("{} more servers", folded.hidden.size()),
                kServerWidth - 2 * kPadding);
      out_ += label(x + kPadding, y + 34, "note", ranks_text(cluster_, folded.hidden),
                    kServerWidth - 2 * kPadding);
      out_ += "</g>\n";
      return;
    }
    const Server& server = cluster_.servers[static_cast<std::size_t>(folded.index)];
    out_ += R"(<g class="server">)" + box(x, y, kServerWidth, height, "server");
    out_ += fmt::format("<title>{}{}</title>", escaped(server.id),
                        server.host_ip.empty() ? "" : ", host " + escaped(server.host_ip));
    out_ += label(x + kPadding, y + 15, "name", server.id, kServerWidth - 2 * kPadding);
    const std::size_t cells = std::min(server.ranks.size(), kDevicesShown);
    for (std::size_t i = 0; i < cells; ++i) {
      const int cell_x = x + kPadding + static_cast<int>(i % kCellsPerRow) * kCellWidth;
      const int cell_y = y + kTitleHeight + static_cast<int>(i / kCellsPerRow) * kCellHeight;
      const bool rest = i + 1 == cells && server.ranks.size() > kDevicesShown;
      if (rest) {
        out_ += label(cell_x + 4, cell_y + 14, "note",
                      fmt::format("+{}", server.ranks.size() - cells + 1), kCellWidth);
      } else {
        draw_device(cluster_.ranks[server.ranks[i]], cell_x, cell_y);
      }
    }
    out_ += "</g>\n";
  }

  void draw_device(const Rank& rank, int x, int y) {
    const std::string device =
        rank.device < 0 ? std::string("no device") : fmt::format("device {}", rank.device);
    out_ += R"(<g class="device">)";
    out_ += fmt::format("<title>rank {}, {}{}</title>", rank.id, device,
                        rank.device_ip.empty() ? "" : ", " + escaped(rank.device_ip));
    out_ += box(x, y, kCellWidth - 4, kCellHeight - 4, "device");
    out_ +=
        fmt::format(R"(<text class="rank" x="{}" y="{}">{}</text></g>)", x + (kCellWidth - 4) / 2,
                    y + 13, rank.id < 0 ? "?" : std::to_string(rank.id));
  }

  const Cluster& cluster_;
  std::string out_;
  int height_ = 0;
};

constexpr std::string_view kStyle = R"(<style>
text { font: 12px sans-serif; fill: #222; }
text.title { font-size: 15px; font-weight: bold; }
text.name { font-weight: bold; }
text.note { fill: #555; }
text.rank { text-anchor: middle; font-size: 11px; }
rect.pod { fill: #f4f6fa; stroke: #8a97b0; }
rect.server { fill: #fff; stroke: #5b6b8c; }
rect.device { fill: #dbe8ff; stroke: #6f8fc9; }
rect.fold { fill: #eee; stroke: #999; stroke-dasharray: 5 3; }
line.between { stroke: #b35900; stroke-width: 2; }
line.within { stroke: #2f7d4f; stroke-width: 2; }
</style>
)";

std::string size_text(const Cluster& cluster) {
  std::string pods;
  if (!cluster.pods.empty()) pods = fmt::format("{} super pods, ", cluster.pods.size());
  return fmt::format("{}: {}{} servers, {} ranks", describe(cluster.form), pods,
                     cluster.servers.size(), cluster.ranks.size());
}

}  // namespace

std::string draw_svg(const Cluster& cluster, std::string_view title) {
  Picture picture(cluster);
  const std::string body = picture.body();
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}">
{2}<rect width="{0}" height="{1}" fill="#fff"/>
<text class="title" x="{3}" y="{4}">{5}</text>
{6}</svg>
)",
      Picture::width(), picture.height(), kStyle, kMargin, kMargin,
      fitted(std::string(title) + " - " + size_text(cluster), Picture::width() - 2 * kMargin - 200),
      body);
}

std::string draw_html(const Cluster& cluster, std::string_view title) {
  std::string rows;
  for (std::size_t i = 0; i < cluster.servers.size(); ++i) {
    const Server& server = cluster.servers[i];
    rows += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
        server.pod < 0 ? "" : escaped(cluster.pods[static_cast<std::size_t>(server.pod)].id),
        escaped(server.id), server.ranks.size(), ranks_text(cluster, {static_cast<int>(i)}));
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n<title>{}</title>\n"
      "<style>body {{ margin: 0; }} table {{ font: 13px sans-serif; margin: 20px; "
      "border-collapse: collapse; }} td, th {{ text-align: left; padding: 2px 12px 2px 0; }}"
      "</style></head>\n<body>\n{}<table>\n<tr><th>super pod</th><th>server</th><th>devices</th>"
      "<th>ranks</th></tr>\n{}</table>\n</body></html>\n",
      escaped(title), draw_svg(cluster, title), rows);
}

}  // namespace commrig::topo
