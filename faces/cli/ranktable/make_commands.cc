// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "faces/cli/options.h"
#include "faces/cli/ranktable/commands.h"
#include "faces/cli/ranktable/table_file.h"
#include "faces/cli/report.h"
#include "topo/check.h"
#include "topo/convert.h"
#include "topo/make.h"
#include "topo/write.h"

namespace commrig::cli {
namespace {

// What stands on the command line, before it is understood.
struct MakeArguments {
  std::string version = "1.0";
  std::string ranks;
  std::string devices = "8";
  std::vector<std::string> hosts;
  std::string host_file;
  std::string host_name = "node_{host}";
  std::string address;
  std::vector<std::string> hccn;
  std::string pod_servers = "0";
  std::string port;
  std::string output = "-";
  std::vector<std::string> files;
};

Result<topo::Form> parse_form(std::string_view option, const std::string& text) {
  const auto form = topo::parse_version(text);
  if (!form) return bad_option(option, text, "1.0, 1.2 or 2.0");
  return *form;
}

// "name" or "name address".
topo::MakeHost parse_host(std::string_view line) {
  const std::size_t end = line.find_first_of(" \t");
  topo::MakeHost host{.id = std::string(line.substr(0, end))};
  const std::size_t address = line.find_first_not_of(" \t", std::min(end, line.size()));
  if (address != std::string_view::npos) {
    host.host_ip = line.substr(address, line.find_first_of(" \t\r", address) - address);
  }
  return host;
}

Status add_hosts_of_file(const std::string& name, std::vector<topo::MakeHost>& hosts) {
  COMMRIG_ASSIGN(const std::string text, read_table_file(name));
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    line = line.substr(0, line.find_first_of("#\r"));
    const std::size_t first = line.find_first_not_of(" \t");
    if (first != std::string_view::npos) hosts.push_back(parse_host(line.substr(first)));
  }
  if (hosts.empty()) return bad_option("--hosts", name, "a file with a host a line");
  return ok();
}

// So many hosts that all ranks have a device.
Status add_counted_hosts(const MakeArguments& arguments, topo::MakeOptions& options) {
  COMMRIG_ASSIGN(const std::uint64_t ranks, parse_number("--ranks", arguments.ranks, 1, 1'000'000));
  const auto devices = static_cast<std::uint64_t>(options.devices);
  if (ranks < devices) options.devices = static_cast<int>(ranks);
  if (ranks > devices && ranks % devices != 0) {
    return bad_option("--ranks", arguments.ranks, fmt::format("a multiple of {} devices", devices));
  }
  const std::uint64_t count = std::max<std::uint64_t>(1, ranks / devices);
  constexpr std::string_view kField = "{host}";
  const std::size_t at = arguments.host_name.find(kField);
  if (at == std::string::npos && count > 1) {
    return bad_option("--host-name", arguments.host_name, "{host} in it, the number of the host");
  }
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string name = arguments.host_name;
    if (at != std::string::npos) name.replace(at, kField.size(), std::to_string(i));
    options.hosts.push_back({.id = std::move(name)});
  }
  return ok();
}

// "host=file" of each --hccn-conf.
Status add_addresses(const MakeArguments& arguments, topo::MakeOptions& options) {
  for (const std::string& each : arguments.hccn) {
    const std::size_t equals = each.find('=');
    const std::string name = each.substr(0, equals);
    const auto host = std::ranges::find(options.hosts, name, &topo::MakeHost::id);
    if (equals == std::string::npos || host == options.hosts.end()) {
      return bad_option("--hccn-conf", each, "HOST=FILE with the name of a host");
    }
    COMMRIG_ASSIGN(const std::string text, read_table_file(each.substr(equals + 1)));
    COMMRIG_ASSIGN(host->addresses, topo::parse_hccn(text));
  }
  return ok();
}

Result<topo::MakeOptions> understand(const MakeArguments& arguments) {
  topo::MakeOptions options;
  COMMRIG_ASSIGN(options.form, parse_form("--version", arguments.version));
  COMMRIG_ASSIGN(const std::uint64_t devices, parse_number("--devices", arguments.devices, 1, 65));
  options.devices = static_cast<int>(devices);
  for (const std::string& host : arguments.hosts) options.hosts.push_back(parse_host(host));
  if (!arguments.host_file.empty()) {
    COMMRIG_TRY(add_hosts_of_file(arguments.host_file, options.hosts));
  }
  if (options.hosts.empty() && arguments.ranks.empty()) {
    return bad_option("--ranks", "", "a number, or hosts by --host or --hosts");
  }
  if (options.hosts.empty()) {
    COMMRIG_TRY(add_counted_hosts(arguments, options));
  } else if (!arguments.ranks.empty()) {
    return bad_option("--ranks", arguments.ranks, "no hosts besides; they and --devices say it");
  }
  options.address = arguments.address;
  COMMRIG_TRY(add_addresses(arguments, options));
  COMMRIG_ASSIGN(const std::uint64_t servers,
                 parse_number("--super-pod-servers", arguments.pod_servers, 0, 1'000'000));
  options.pod_servers = static_cast<int>(servers);
  if (!arguments.port.empty()) options.port = arguments.port;
  return options;
}

Status write(const MakeArguments& arguments, const topo::Cluster& cluster) {
  COMMRIG_ASSIGN(const std::string text, topo::write_table(cluster, cluster.form));
  // What is written must be a table that others take; addresses may be wanting.
  const topo::CheckedTable checked = topo::check_table(text);
  for (const topo::TableFinding& finding : checked.findings) {
    if (finding.severity != topo::Severity::kError) continue;
    std::fprintf(stderr, "commrig: to be added: %s: %s\n", finding.path.c_str(),
                 topo::sentence(finding).c_str());
    break;
  }
  return write_table_file(arguments.output, text);
}

Status make(const MakeArguments& arguments) {
  COMMRIG_ASSIGN(const topo::MakeOptions options, understand(arguments));
  COMMRIG_ASSIGN(const topo::Cluster cluster, topo::make_cluster(options));
  return write(arguments, cluster);
}

Status convert(const MakeArguments& arguments) {
  COMMRIG_ASSIGN(const topo::Form form, parse_form("--to", arguments.version));
  const std::string& name = arguments.files.front();
  COMMRIG_ASSIGN(std::string text, read_table_file(name));
  COMMRIG_ASSIGN(const topo::CheckedTable source, topo::require_table({name, std::move(text)}));
  COMMRIG_ASSIGN(const topo::ConvertedCluster converted,
                 topo::convert_cluster(source.cluster, {.form = form, .port = arguments.port}));
  for (const std::string& lost : converted.lost) {
    std::fprintf(stderr, "commrig: lost: %s\n", lost.c_str());
  }
  for (const std::string& missing : converted.missing) {
    std::fprintf(stderr, "commrig: to be added: %s\n", missing.c_str());
  }
  return write(arguments, converted.cluster);
}

// A table that may be wrong in its ranks, which are numbered anew.
Result<topo::Cluster> read_part(const std::string& name) {
  COMMRIG_ASSIGN(std::string text, read_table_file(name));
  topo::CheckedTable table = topo::check_table(text);
  const bool usable = table.is_table() &&
                      std::ranges::all_of(table.findings, [](const topo::TableFinding& finding) {
                        return finding.severity != topo::Severity::kError ||
                               finding.rule == topo::Rule::kRankRange ||
                               finding.rule == topo::Rule::kRankTwice;
                      });
  if (usable) return std::move(table.cluster);
  COMMRIG_ASSIGN(table, topo::require_table({name, std::move(text)}));
  return std::move(table.cluster);
}

Status merge(const MakeArguments& arguments) {
  std::vector<topo::Cluster> parts;
  for (const std::string& name : arguments.files) {
    COMMRIG_ASSIGN(topo::Cluster part, read_part(name));
    parts.push_back(std::move(part));
  }
  COMMRIG_ASSIGN(const topo::Cluster merged, topo::merge_clusters(parts));
  return write(arguments, merged);
}

int finish(const Status& status) {
  return status ? kExitOk : report_error(status.error());
}

}  // namespace

void add_make_command(CLI::App& ranktable, int& exit_code) {
  CLI::App* const command = ranktable.add_subcommand("make", "Write a rank table");
  const auto arguments = std::make_shared<MakeArguments>();  // shared with the callback
  command->add_option("--version", arguments->version, "1.0, 1.2 or 2.0")->capture_default_str();
  command->add_option("-n,--ranks", arguments->ranks, "Ranks in all, on hosts that are counted");
  command->add_option("--devices", arguments->devices, "Devices of each host")
      ->capture_default_str();
  command->add_option("--host", arguments->hosts,
                      "A host: \"name\" or \"name address\"; again and again");
  command->add_option("--hosts", arguments->host_file, "File with such a host a line");
  command->add_option("--host-name", arguments->host_name, "Name of counted hosts")
      ->capture_default_str();
  command->add_option("--device-ip", arguments->address,
                      "First address, which counts up, or a pattern: 10.{host}.0.{device}");
  command->add_option("--hccn-conf", arguments->hccn, "HOST=FILE: addresses of one host's devices");
  command
      ->add_option("--super-pod-servers", arguments->pod_servers,
                   "Servers of a super pod; 0: one super pod")
      ->capture_default_str();
  command->add_option("--port", arguments->port, "Port of every address in 2.0, 0/0 by default");
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = finish(make(*arguments)); });
}

void add_convert_command(CLI::App& ranktable, int& exit_code) {
  CLI::App* const command = ranktable.add_subcommand(
      "convert", "Write a rank table in another version, and say what that costs");
  const auto arguments = std::make_shared<MakeArguments>();  // shared with the callback
  command->add_option("file", arguments->files, "Rank table")->required()->expected(1);
  command->add_option("--to", arguments->version, "1.0, 1.2 or 2.0")->required();
  command->add_option("--port", arguments->port, "Port of every address in 2.0, such as 0/0");
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = finish(convert(*arguments)); });
}

void add_merge_command(CLI::App& ranktable, int& exit_code) {
  CLI::App* const command = ranktable.add_subcommand(
      "merge", "Make one table of per-host tables; ranks are numbered anew, file by file");
  const auto arguments = std::make_shared<MakeArguments>();  // shared with the callback
  command->add_option("file", arguments->files, "Rank tables of one version")->required();
  command->add_option("-o,--output", arguments->output, "File to write")->capture_default_str();
  command->callback([arguments, &exit_code] { exit_code = finish(merge(*arguments)); });
}

}  // namespace commrig::cli
