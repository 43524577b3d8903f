// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "topo/rule.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/check.h"

namespace commrig::topo {
namespace {

using enum Rule;

constexpr std::array kRules{
    RuleInfo{kComment, Severity::kError, "CR-TAB01", "comment in JSON", "EI0004",
             "the file is no JSON", "Take the comment out (--fix does)",
             "JSON has no comments. Documents print tables with comments; whoever copies one has "
             "to take them out."},
    RuleInfo{kExtraComma, Severity::kError, "CR-TAB02", "comma that separates nothing", "EI0004",
             "the file is no JSON", "Take the comma out (--fix does)",
             "A comma stands before a closing bracket, or twice. The strict grammar of HCCL allows "
             "neither."},
    RuleInfo{kMissingComma, Severity::kError, "CR-TAB03", "comma is missing", "EI0004",
             "the file is no JSON", "Put a comma there (--fix does)",
             "Two values of a list or object follow each other without a comma."},
    RuleInfo{kQuotes, Severity::kError, "CR-TAB04", "quotes or signs that JSON does not know",
             "EI0004", "the file is no JSON",
             "Use plain double quotes, colons and commas (--fix does)",
             "Single quotes, typographic quotes, full-width commas and colons, or a key without "
             "quotes: word processors, chat programs and input methods put them in."},
    RuleInfo{kEllipsis, Severity::kError, "CR-TAB05", "values were left out", "EI0004",
             "the file is no JSON", "Write the values that were left out; no tool can know them",
             "\"...\" stands where a document left values out. Nothing is guessed here, so --fix "
             "leaves it."},
    RuleInfo{kMalformed, Severity::kError, "CR-TAB06", "not JSON", "EI0004", "the file is no JSON",
             "Correct the text at this place",
             "The text breaks the grammar of JSON in a way that can mean several things. HCCL "
             "fails at once; it does not try a half-written file again, so producers have to write "
             "another file and rename it."},
    RuleInfo{kDuplicateKey, Severity::kWarning, "CR-TAB07", "key stands twice in an object", "none",
             "the last of the values is taken", "Remove one of the two",
             "JSON allows it, and HCCL takes the last one without a word. One of the two values is "
             "not what is used."},
    RuleInfo{kTextAfterEnd, Severity::kWarning, "CR-TAB08", "text behind the end of the table",
             "none", "only the first value of a file is read",
             "Remove what stands behind the last bracket",
             "HCCL reads the first JSON value of the file and stops. A second table behind it is "
             "not noticed."},
    RuleInfo{kFileName, Severity::kError, "CR-TAB09", "name of the file must end in .json",
             "EI0004", "the path is not valid",
             "Rename the file to something that ends in .json, and keep .json out of its folders",
             "HCCL follows links and then looks for the first \".json\" in the path; it must be "
             "the end. So table.txt, a link to it, and /a.json.d/hccl.json all fail."},
    RuleInfo{kLink, Severity::kWarning, "CR-TAB10", "file is a symbolic link", "none",
             "waiting for the file to change never ends",
             "Wait until it is completed, then copy it to a plain file",
             "HCCL resolves links once and reads that path again and again, while a mounted "
             "ConfigMap gets a new folder for each change. torch_npu and xLLM refuse links."},
    RuleInfo{kTooLong, Severity::kError, "CR-TAB11", "table is longer than HCCL reads", "log only",
             "the length is refused", "Write the table without blanks, or split the job",
             "A table given as text may have 40 MiB, a file of version 2.0 1 GiB."},
    RuleInfo{kForeignFile, Severity::kError, "CR-TAB12", "another kind of file", "none",
             "it is no rank table", "Give HCCL the rank table itself",
             "Files of other programs look like rank tables: the global table of MindIE, prefill "
             "and decode lists, tables without ranks, summaries of jobs, annotations of pods, "
             "topology files."},
    RuleInfo{kNoTable, Severity::kError, "CR-TAB13", "not a rank table", "EI0017",
             "required keys are missing",
             "Give a file with server_list, node_list, group_list or rank_list",
             "The text is JSON, but nothing in it tells of servers, nodes, groups or ranks."},
    RuleInfo{kVersion, Severity::kError, "CR-TAB14", "unknown version", "EI0014",
             "the value {found} of version is wrong",
             "Use 1.0, 1.1, 1.2 or 2.0, or leave the key out in the old template",
             "The version selects the reader; other texts are refused."},
    RuleInfo{kVersionChip, Severity::kError, "CR-TAB15", "version does not fit the chip", "EI0014",
             "the value {found} of version is wrong",
             "Make the table anew for this chip, or convert it: commrig ranktable convert",
             "The format is tied to the generation: 950 reads 2.0 only, older chips everything "
             "else. A table left over from other machines is the usual cause."},
    RuleInfo{kChipUnknown, Severity::kNote, "CR-TAB16", "rules of single chips were not applied",
             "none", "", "Say for which chip the table is: --chip 910, 310p, a2, a3 or 950",
             "Some limits depend on the chip, such as the numbers of devices. Without --chip only "
             "what holds for every chip of the version is checked."},
    RuleInfo{kNotCompleted, Severity::kError, "CR-TAB17", "table is not completed", "EI0004",
             "the file is read once a second for 30 minutes, then time-out",
             "Wait until the producer has written completed (commrig ranktable wait), or correct "
             "the word",
             "Only the exact text \"completed\" makes a table ready. Any other text, \"complete\" "
             "and \"Completed\" too, means: not yet."},
    RuleInfo{kMissingKey, Severity::kError, "CR-TAB18", "required key is missing", "EI0017",
             "the key {variable} is missing", "Add the key",
             "The reader of this version needs the key."},
    RuleInfo{kWrongType, Severity::kError, "CR-TAB19", "value has the wrong JSON type", "EI0017",
             "the key {variable} is missing",
             "Write numbers with quotes in 1.x and without in 2.0 (--fix does)",
             "In the tables before 2.0 every value is a string. HCCL reports a number there as a "
             "missing key, which misleads; in 2.0 it ends with the text of an exception."},
    RuleInfo{kEmptyList, Severity::kError, "CR-TAB20", "list is empty or null", "log only",
             "the size is zero", "List at least one entry",
             "A producer that was interrupted writes this."},
    RuleInfo{kUnknownKey, Severity::kNote, "CR-TAB21", "key is not read", "none",
             "unknown keys are skipped", "Nothing, unless HCCL was meant to read it",
             "HCCL skips keys that it does not know."},
    RuleInfo{kMisspeltKey, Severity::kWarning, "CR-TAB22", "key looks misspelt", "none",
             "unknown keys are skipped", "Correct the spelling",
             "HCCL skips unknown keys without a word, so an optional value with a misspelt key has "
             "no effect."},
    RuleInfo{kCount, Severity::kError, "CR-TAB23", "count differs from the list", "EI0014",
             "the value {found} of {variable} is wrong", "Correct the number, or the list",
             "The number in the file is not that of the entries. Either the producer stopped "
             "half-way or somebody edited the list."},
    RuleInfo{kTextLength, Severity::kError, "CR-TAB24", "text is empty or too long", "log only",
             "the length is refused", "Use a name within the limits",
             "Names have limits: 64 characters for server_id, 127 for names of groups, pods and "
             "super pods."},
    RuleInfo{kElided, Severity::kNote, "CR-TAB25", "rules about the whole table were not applied",
             "none", "", "Check again when the values are there",
             "Values were left out, so nothing can be said about counts and about ranks without a "
             "gap."},
    RuleInfo{kServerTwice, Severity::kError, "CR-TAB26", "server stands twice", "EI0014",
             "an IP is said to be repeated", "Put the devices of one host into one entry",
             "Two entries have the same server_id (or node_addr)."},
    RuleInfo{kAddressTwice, Severity::kError, "CR-TAB27", "device address stands twice", "EI0014",
             "an IP is said to be repeated",
             "Give each device the address that hccn_tool prints for it",
             "Two devices have the same device_ip. Usually it was taken from the wrong host."},
    RuleInfo{kBackupTwice, Severity::kError, "CR-TAB28", "backup address stands twice", "EI0014",
             "an IP is said to be repeated",
             "Give each device the address of the other die of its NPU",
             "Two devices have the same backup_device_ip."},
    RuleInfo{kNameTwice, Severity::kError, "CR-TAB29", "name stands twice", "EI0014",
             "an IP is said to be repeated", "Use each name once",
             "Names of groups, pods and super pods must be unique; a pod is found by its name."},
    RuleInfo{kNoAddress, Severity::kError, "CR-TAB30", "not an IP address", "EI0014",
             "the value {found} of IP is not a valid address", "Write an IPv4 or IPv6 address",
             "The text is no address."},
    RuleInfo{kPlaceholder, Severity::kError, "CR-TAB31", "placeholder instead of a value", "EI0014",
             "the value {found} of IP is not a valid address",
             "Set an address on that device (hccn_tool -i N -ip -s) and make the table anew",
             "A producer wrote down that it does not know: \"-.-.-.-\" is what hccn_tool prints "
             "for a device without an address, \"-1\" and \"-2\" come from the device plugin, xx "
             "and * from documents."},
    RuleInfo{
        kAddressMissing, Severity::kError, "CR-TAB32", "device has no address", "EI0014",
        "the value {found} of device_ip is wrong", "Add device_ip",
        "Devices of several servers reach each other by address; with several super pods too."},
    RuleInfo{kAddressCount, Severity::kError, "CR-TAB33",
             "devices have different numbers of addresses", "log only",
             "the numbers of addresses differ", "Give every device the same number of addresses",
             "Where device_ip lists several, all devices must have the same number."},
    RuleInfo{kSeveralAddresses, Severity::kWarning, "CR-TAB34", "several addresses in one value",
             "none", "they are read", "Check that this was meant: no document describes it",
             "HCCL takes addresses separated by commas; no document says so."},
    RuleInfo{kFamilies, Severity::kError, "CR-TAB35", "IPv4 and IPv6 are mixed", "EI0001",
             "RankIpFamily is wrong (2 is IPv4, 10 is IPv6)", "Use one family for all devices",
             "With several servers all device addresses must be of one family."},
    RuleInfo{kHostFamilies, Severity::kError, "CR-TAB36", "families of host addresses are mixed",
             "EI0014", "an error with an unrelated text", "Use one family for every host_ip",
             "All host addresses must be IPv4, or all IPv6."},
    RuleInfo{kHostNic, Severity::kError, "CR-TAB37",
             "network card on the host, but no host address", "log only", "hostIp config is wrong",
             "Add host_ip to the server",
             "net_position \"host\" puts the traffic on the host's card, which needs an address."},
    RuleInfo{kLoopback, Severity::kWarning, "CR-TAB38", "server is named by a loopback address",
             "none", "servers cannot reach each other",
             "Correct /etc/hosts, or name the server otherwise",
             "A producer asked the system for its own name and got an address that means "
             "\"myself\" on every host."},
    RuleInfo{kSharedHost, Severity::kWarning, "CR-TAB39", "two servers on one host", "none",
             "RoCE is taken between them", "Put the devices of one host into one entry",
             "Two servers with the same host_ip are taken for two hosts, and their devices talk "
             "over the network instead of the links inside the host."},
    RuleInfo{kPort, Severity::kError, "CR-TAB40", "port is not 1 to 65535", "log only",
             "the port is out of range", "Use a number from 1024 to 65535",
             "The value is no port."},
    RuleInfo{kLowPort, Severity::kWarning, "CR-TAB41", "port below 1024", "none", "it is taken",
             "Use a port from 1024", "Documents advise against ports that the system reserves."},
    RuleInfo{kPortTwice, Severity::kWarning, "CR-TAB42", "port stands twice on a server", "none",
             "the second process cannot bind it",
             "Give every device of a server a host_port of its own",
             "Processes of one host cannot listen on the same port."},
    RuleInfo{kDeviceId, Severity::kError, "CR-TAB43", "device_id is no device of the chip",
             "log only", "the device_id is invalid", "Use the number of /dev/davinciN",
             "Physical numbers: 0 to 7 on 910, to 15 on A2 and A3, to 31 on 310P, to 64 on 950."},
    RuleInfo{kDeviceTwice, Severity::kError, "CR-TAB44", "device stands twice on a server",
             "EI0014", "Device Id of server Id is wrong",
             "List each device once; several processes on one device need device_port each",
             "Two entries of one server have the same device_id."},
    RuleInfo{kDeviceSet, Severity::kError, "CR-TAB45",
             "four devices that do not work together on 910", "EI0014",
             "Device Id of server Id is wrong, expected unique (which is not the reason)",
             "Use one of 0123 4567 0145 0246 0347 1256 1357 2367",
             "Devices 0 to 3 and 4 to 7 of a 910 server are two rings. Four devices must be one "
             "ring, or two pairs that are linked."},
    RuleInfo{
        kUneven, Severity::kWarning, "CR-TAB46", "servers have different numbers of devices",
        "EI0014", "DeviceNum of server is wrong", "Use the same number on all servers",
        "910 and 310P refuse it, A2 and A3 take it; algorithms that work by levels slow down."},
    RuleInfo{kRankNumber, Severity::kError, "CR-TAB47", "rank_id is no number", "EI0014",
             "the value {found} of rank_id is wrong", "Use a decimal number from 0",
             "HCCL reads a number from 0. Negative text wraps and then is too large."},
    RuleInfo{
        kRankTwice, Severity::kError, "CR-TAB48", "rank stands twice", "EI0014",
        "rank_id must be less than the communication size and unique",
        "Give out 0 to N-1, each once",
        "Two devices have the same rank_id. Producers that count per pod or per role do this."},
    RuleInfo{kRankRange, Severity::kError, "CR-TAB49", "ranks are not 0 to N-1", "EI0014",
             "rank_id must be less than the communication size and unique",
             "Give out 0 to N-1 without a gap",
             "A rank is too large, so another one is missing. A table that starts above 0 is often "
             "a part of one: every process needs all of it."},
    RuleInfo{kInterleaved, Severity::kWarning, "CR-TAB50", "ranks of a server are no block", "none",
             "accepted", "Number the ranks server by server",
             "Documents demand that the ranks of a server follow each other; the reader does not "
             "check it."},
    RuleInfo{kOwnRank, Severity::kError, "CR-TAB51", "rank of the process is not in the table",
             "EI0014", "the value {found} of rank_id is wrong",
             "Start as many processes as the table has ranks, and give each its RANK_ID",
             "What stands in RANK_ID must be one of the ranks. An empty one gives EI0003."},
    RuleInfo{kOwnDevice, Severity::kError, "CR-TAB52",
             "device of the process is not that of its rank", "EI0014", "devicePhyId is wrong",
             "Give the process the device of the table, by its physical number",
             "The table names the physical device of each rank; the number inside a container may "
             "be another one."},
    RuleInfo{kSuperDevice, Severity::kError, "CR-TAB53", "super_device_id is no number", "EI0014",
             "the value {found} of super_device_id is wrong", "Use the SDID that npu-smi prints",
             "super_device_id is an unsigned number of 32 bits as text. A fault guide lists it "
             "under EI0004."},
    RuleInfo{kSuperDeviceTwice, Severity::kError, "CR-TAB54",
             "super_device_id stands twice in a super pod", "log only",
             "superDeviceId already exists", "Use the SDID of each device",
             "Inside a super pod every device has a number of its own; another super pod may use "
             "it again."},
    RuleInfo{kSuperDeviceMissing, Severity::kError, "CR-TAB55",
             "device of a super pod has no super_device_id", "log only",
             "the rank has no super_device_id", "Add the SDID that npu-smi prints",
             "With super_pod_list every device needs its number."},
    RuleInfo{kSuperDeviceOther, Severity::kError, "CR-TAB56",
             "super_device_id belongs to another device", "none", "the link fails later",
             "Use the SDID of this device",
             "Bits 22 and above are the server, 18 to 21 the chip, 16 and 17 the die, the rest the "
             "device: chip = device / 2, die = device % 2. The number decodes to another device "
             "than device_id says."},
    RuleInfo{kSuperDeviceSmall, Severity::kNote, "CR-TAB57", "super_device_id is a small number",
             "none", "accepted", "Nothing in an example; on machines use the SDID",
             "Real numbers have the server in their high bits. Documents print 0 to 7, which HCCL "
             "takes."},
    RuleInfo{kSuperDeviceServer, Severity::kWarning, "CR-TAB58",
             "super_device_id belongs to another server", "none", "the link fails later",
             "Use the SDIDs of this server",
             "The devices of a server carry different server numbers in their super_device_id, or "
             "two servers of a super pod carry the same."},
    RuleInfo{kVirtualNic, Severity::kWarning, "CR-TAB59",
             "virtual address belongs to another device", "none", "the link fails later",
             "Use the address that hccn_tool -vnic prints for this device",
             "Virtual cards have addresses of the form 192.(server).(2 + die).(199 - device). This "
             "is what was seen, not what a document says."},
    RuleInfo{kSuperPodId, Severity::kError, "CR-TAB60", "super_pod_id is missing or not usable",
             "EI0014", "the value {found} of super_pod_id is wrong",
             "Give every super pod a name of 1 to 127 characters",
             "The id is that of npu-smi or any name."},
    RuleInfo{kPodServerUnknown, Severity::kError, "CR-TAB61", "super pod names an unknown server",
             "EI0014", "the value {found} of server_id is wrong, expected a non-empty text",
             "Name a server of server_list",
             "The servers of super_pod_list are those of server_list."},
    RuleInfo{kServerInTwoPods, Severity::kError, "CR-TAB62", "server is in two super pods",
             "log only", "the last one is taken; then superDeviceId already exists",
             "List the server in one super pod",
             "HCCL moves the server to the last super pod that names it, and then complains about "
             "numbers that stand twice."},
    RuleInfo{kServerInNoPod, Severity::kError, "CR-TAB63", "server is in no super pod", "log only",
             "the rank has no super pod", "Add the server to a super pod",
             "super_pod_list must cover server_list."},
    RuleInfo{kPodsInterleaved, Severity::kWarning, "CR-TAB64",
             "servers of a super pod do not stand together", "none", "accepted",
             "Order server_list by super pod",
             "Documents demand it; the reader does not check it."},
    RuleInfo{kBackup, Severity::kError, "CR-TAB65", "backup address is not that of the partner die",
             "log only", "the link between device and backup device is not SIO",
             "Use the device_ip of the other die of the NPU",
             "Devices 2n and 2n+1 are the dies of one NPU. Only the other die can take over."},
    RuleInfo{kBackupPort, Severity::kError, "CR-TAB66", "backup port is the partner's own port",
             "log only", "the port is in use", "Use another port, 16667 by default",
             "The backup port must differ from the device_port of the die that it is on."},
    RuleInfo{kLabNic, Severity::kError, "CR-TAB67", "para_plane_nic_location must be device",
             "log only", "host nic is unsupported", "Write \"device\"",
             "Cards of the host are refused in the old template."},
    RuleInfo{kLabDevices, Severity::kError, "CR-TAB68",
             "number of devices per server is not allowed", "log only",
             "the number of devices is refused", "Use 1, 2, 4, 8 or 16 devices on every server",
             "In the lab form device_num must be a multiple of server_num; the quotient may be 1, "
             "2, 4, 8 or 16 (any on 310P)."},
    RuleInfo{kMode, Severity::kError, "CR-TAB69", "mode is neither tcp nor rdma", "log only",
             "the mode is not supported", "Write \"tcp\" or \"rdma\", or leave it out",
             "The transport between nodes of version 1.1."},
    RuleInfo{kDraft, Severity::kError, "CR-TAB70", "early draft of version 2.0", "none",
             "the text of an exception about types",
             "Make the table anew; the draft is not read any more",
             "Before 2.0 was final, rank_count was a text, levels had other keys, and device_id "
             "was absent."},
    RuleInfo{kLocalId, Severity::kError, "CR-TAB71", "local_id is not usable", "EI0014",
             "the value {found} of local_id is wrong", "Use 0 to 63, and 64 for one spare NPU",
             "At most one rank may have local_id 64."},
    RuleInfo{kReplacedId, Severity::kError, "CR-TAB72", "replaced_local_id is not usable", "EI0014",
             "the value {found} of replaced_local_id is wrong",
             "Name the NPU that the spare one replaces, 0 to 63",
             "The spare NPU (local_id 64), and only it, says which it replaces; that one must not "
             "be there."},
    RuleInfo{kLayer, Severity::kError, "CR-TAB73", "net_layer is not usable", "none",
             "the text of an exception", "List layers 0 to 7 in rising order",
             "The layers of a rank must rise; gaps are allowed."},
    RuleInfo{kNetType, Severity::kError, "CR-TAB74", "net_type is unknown", "none",
             "the text of an exception", "Use TOPO_FILE_DESC on layer 0, there or CLOS above",
             "The reader knows more types than the documents: 1DMESH, 2DMESH, A3_SERVER, "
             "A2_AX_SERVER."},
    RuleInfo{kAddrType, Severity::kError, "CR-TAB75", "addr_type is unknown", "none",
             "the text of an exception", "Use EID, IPV4 or IPV6, in upper case",
             "The text is compared letter by letter; the table in the document prints IPv4 all the "
             "same."},
    RuleInfo{kEid, Severity::kError, "CR-TAB76", "address does not fit its type", "none",
             "the text of an exception",
             "Write 32 hexadecimal digits for an EID, an address of the type otherwise",
             "An EID has exactly 32 hexadecimal digits."},
    RuleInfo{kPorts, Severity::kError, "CR-TAB77", "ports are not usable", "none",
             "the text of an exception", "Use \"die/port\" or \"d2h\", each once",
             "One to 16 texts of 1 to 32 characters."},
    RuleInfo{kListLimit, Severity::kError, "CR-TAB78", "list or text is longer than allowed",
             "none", "the text of an exception", "Shorten it",
             "At most 8 levels a rank, 24 addresses a level, 16 backup addresses; 1024 characters "
             "for net_instance_id and plane_id."},
    RuleInfo{kInstanceCounts, Severity::kError, "CR-TAB79",
             "ranks of an instance have different numbers of addresses", "none",
             "the text of an exception",
             "List the same number of addresses for all ranks of an instance",
             "All ranks with the same net_instance_id on a layer must list equally many."},
    RuleInfo{kAddressShared, Severity::kWarning, "CR-TAB80", "two ranks have the same address",
             "none", "accepted", "Give each rank an address of its own",
             "Version 2.0 is not checked for repeats, so the fault shows when links are made."},
    RuleInfo{kTopologyPeer, Severity::kError, "CR-TAB81",
             "peers of the topology file are not usable", "none", "the text of an exception",
             "List each local_id once, and count them right",
             "peer_count is 1 to 65 and equals the list."},
    RuleInfo{kTopologyEdge, Severity::kError, "CR-TAB82", "link of the topology file is not usable",
             "none", "the text of an exception", "Correct the link",
             "A link has a layer, PEER2PEER or PEER2NET, known protocols, and ends that are peers "
             "with ports."},
    RuleInfo{kTopologyRank, Severity::kError, "CR-TAB83", "rank is not in the topology file",
             "none", "the graph of ranks has no such NPU",
             "Use the topology file of these machines",
             "A rank's local_id or port does not appear in the topology file."},
    RuleInfo{kDetour, Severity::kError, "CR-TAB84", "detour is neither true nor false", "none",
             "the text of an exception", "Write \"true\" or \"false\", or leave it out",
             "The value of detour in 2.0 is a text, not a bool."},
    RuleInfo{
        kUndocumented, Severity::kWarning, "CR-TAB85", "HCCL takes it, but no document allows it",
        "none", "accepted", "Write what the documents describe",
        "HCCL reads only the leading digits of a number before 2.0, so \"3x\" passes and means "
        "3; it takes addresses with a zone, and keys that are in no document. Another release "
        "need not."},
};

// Row i must describe enumerator i, so that info() is one array access.
consteval bool rows_are_in_order() {
  for (std::size_t i = 0; i < kRules.size(); ++i) {
    if (static_cast<std::size_t>(kRules[i].rule) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());
static_assert(kRules.size() == static_cast<std::size_t>(kUndocumented) + 1);

}  // namespace

std::string_view name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

const RuleInfo& info(Rule rule) {
  const auto index = static_cast<std::size_t>(rule);
  COMMRIG_CHECK(index < kRules.size(), "a rule without a row");
  return kRules[index];
}

std::span<const RuleInfo> all_rules() {
  return kRules;
}

const RuleInfo* find_rule(std::string_view id) {
  const auto* row = std::ranges::find(kRules, id, &RuleInfo::id);
  return row == kRules.end() ? nullptr : row;
}

}  // namespace commrig::topo
