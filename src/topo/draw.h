// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <string_view>

#include "topo/cluster.h"

namespace commrig::topo {

// Super pods, their servers, devices with their ranks, and what links them, as an SVG picture.
// Where there are many of a kind, the first ones and the last one are drawn and the rest is one box
// that says how many they are and which ranks they have; so the picture has at most some hundred
// devices, whatever the table has.
std::string draw_svg(const Cluster& cluster, std::string_view title);

// The same in a page, with a table of all servers below it, folded ones too.
std::string draw_html(const Cluster& cluster, std::string_view title);

}  // namespace commrig::topo
