// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <string>
#include <string_view>

// Tables without a fault, one of each form, small enough to be looked at. Addresses are those for
// documentation.
namespace commrig::topo {

inline constexpr std::string_view kGoodCloud = R"({
  "status": "completed",
  "group_count": "1",
  "group_list": [
    {"group_name": "world", "instance_count": "2", "device_count": "3",
     "instance_list": [
       {"pod_name": "pod-a", "server_id": "node_10",
        "devices": [{"device_id": "0", "device_ip": "192.0.2.8"},
                    {"device_id": "1", "device_ip": "192.0.2.9"}]},
       {"pod_name": "pod-b", "server_id": "node_10",
        "devices": [{"device_id": "4", "device_ip": "192.0.2.10"}]}
     ]}
  ]
}
)";

inline constexpr std::string_view kGoodLab = R"({
  "board_id": "0x0020",
  "chip_info": "910",
  "deploy_mode": "lab",
  "para_plane_nic_location": "device",
  "status": "completed",
  "group_count": "1",
  "group_list": [
    {"group_name": "", "device_num": "2", "server_num": "1", "instance_count": "2",
     "instance_list": [
       {"rank_id": "0", "server_id": "198.51.100.1",
        "devices": [{"device_id": "0", "device_ip": "192.0.2.8"}]},
       {"rank_id": "1", "server_id": "198.51.100.1",
        "devices": [{"device_id": "1", "device_ip": "192.0.2.9"}]}
     ]}
  ]
}
)";

inline constexpr std::string_view kGood10 = R"({
  "status": "completed",
  "version": "1.0",
  "server_count": "2",
  "server_list": [
    {"server_id": "node_0", "host_ip": "198.51.100.1",
     "device": [
       {"device_id": "0", "device_ip": "192.0.2.8",
        "device_port": "16667", "host_port": "16700", "rank_id": "0"},
       {"device_id": "1", "device_ip": "192.0.2.9", "host_port": "16701", "rank_id": "1"}
     ]},
    {"server_id": "node_1", "host_ip": "198.51.100.2", "container_ip": "198.51.100.9",
     "device": [
       {"device_id": "0", "device_ip": "192.0.2.18", "rank_id": "2"},
       {"device_id": "1", "device_ip": "192.0.2.19", "rank_id": "3"}
     ]}
  ]
}
)";

inline constexpr std::string_view kGood11 = R"({
  "status": "completed",
  "version": "1.1",
  "collective_id": "198.51.100.1-9527",
  "mode": "tcp",
  "node_list": [
    {"node_addr": "198.51.100.1",
     "ranks": [
       {"rank_id": "0", "device_id": "0", "port": "16666", "rank_ip": "192.0.2.8"},
       {"rank_id": "1", "device_id": "1", "port": "0", "rank_ip": "192.0.2.9"}
     ]},
    {"node_addr": "198.51.100.2",
     "ranks": [
       {"rank_id": "2", "port": "60001"}
     ]}
  ]
}
)";

// With what an A3 asks for; rank 1 runs on the host and is bound to device 1.
inline constexpr std::string_view kGood11A3 = R"({
  "status": "completed",
  "version": "1.1",
  "collective_id": "198.51.100.1-9527",
  "heterog_sub_version": "1.2",
  "node_list": [
    {"node_addr": "198.51.100.1",
     "ranks": [
       {"rank_id": "0", "device_id": "0", "port": "16666", "rank_ip": "192.0.2.8",
        "sdid": "37748736"},
       {"rank_id": "1", "device_id": "-1", "bind_device_id": "1", "port": "16667",
        "rank_ip": "192.0.2.9", "sdid": "37814273"}
     ]}
  ]
}
)";

inline constexpr std::string_view kGood12 = R"({
  "status": "completed",
  "version": "1.2",
  "server_count": "3",
  "server_list": [
    {"server_id": "node_0",
     "device": [
       {"device_id": "0", "super_device_id": "37748736", "device_ip": "192.0.2.8",
        "backup_device_ip": "192.0.2.9", "rank_id": "0"},
       {"device_id": "1", "super_device_id": "37814273", "device_ip": "192.0.2.9",
        "backup_device_ip": "192.0.2.8", "rank_id": "1"}
     ]},
    {"server_id": "node_1",
     "device": [
       {"device_id": "0", "super_device_id": "41943040", "device_ip": "192.0.2.18", "rank_id": "2"},
       {"device_id": "1", "super_device_id": "42008577", "device_ip": "192.0.2.19", "rank_id": "3"}
     ]},
    {"server_id": "node_2",
     "device": [
       {"device_id": "0", "super_device_id": "37748736", "device_ip": "192.0.2.28", "rank_id": "4"},
       {"device_id": "1", "super_device_id": "37814273", "device_ip": "192.0.2.29", "rank_id": "5"}
     ]}
  ],
  "super_pod_list": [
    {"super_pod_id": "0", "server_list": [{"server_id": "node_0"}, {"server_id": "node_1"}]},
    {"super_pod_id": "1", "server_list": [{"server_id": "node_2"}]}
  ]
}
)";

inline constexpr std::string_view kGood20 = R"({
  "version": "2.0",
  "status": "completed",
  "rank_count": 3,
  "detour": "false",
  "rank_list": [
    {"rank_id": 0, "local_id": 0, "device_id": 0, "device_port": 16666,
     "level_list": [
       {"net_layer": 0, "net_instance_id": "rack0", "net_type": "TOPO_FILE_DESC",
        "rank_addr_list": [{"addr_type": "EID", "addr": "000000000000000000100000dfdf0020",
                            "ports": ["0/4"]}]},
       {"net_layer": 1, "net_instance_id": "pod0", "net_type": "CLOS",
        "rank_addr_list": [{"addr_type": "IPV4", "addr": "192.0.2.8",
                            "backup_addr": ["192.0.2.48"], "ports": ["0/5", "0/6"],
                            "plane_id": "p0"}]}
     ],
     "control_plane": {"addr_type": "IPV4", "addr": "198.51.100.1", "listen_port": 60001}},
    {"rank_id": 1, "local_id": 1, "device_id": 1,
     "level_list": [
       {"net_layer": 0, "net_instance_id": "rack0", "net_type": "TOPO_FILE_DESC",
        "rank_addr_list": [{"addr_type": "EID", "addr": "000000000000000000100000dfdf0021",
                            "ports": ["0/4"]}]},
       {"net_layer": 1, "net_instance_id": "pod0", "net_type": "CLOS",
        "rank_addr_list": [{"addr_type": "IPV4", "addr": "192.0.2.9", "ports": ["d2h"]}]}
     ]},
    {"rank_id": 2, "local_id": 64, "replaced_local_id": 5, "device_id": 8,
     "level_list": [
       {"net_layer": 0, "net_instance_id": "rack0", "net_type": "TOPO_FILE_DESC",
        "rank_addr_list": [{"addr_type": "EID", "addr": "000000000000000000100000dfdf0022",
                            "ports": ["0/4"]}]}
     ]}
  ]
}
)";

inline constexpr std::string_view kGoodTopology = R"({
  "version": "2.0",
  "peer_count": 3,
  "peer_list": [{"local_id": 0}, {"local_id": 1}, {"local_id": 64}],
  "edge_count": 2,
  "edge_list": [
    {"net_layer": 0, "link_type": "PEER2PEER", "protocols": ["UB_CTP"],
     "local_a": 0, "local_a_ports": ["0/4"],
     "local_b": 1, "local_b_ports": ["0/4"], "topo_instance_id": 0,
     "topo_type": "1DMESH", "position": "DEVICE"},
    {"net_layer": 1, "link_type": "PEER2NET", "protocols": ["UB_TP", "ROCE"],
     "local_a": 0, "local_a_ports": ["0/5", "0/6"],
     "topo_instance_id": 0, "topo_type": "CLOS", "position": "DEVICE"}
  ]
}
)";

}  // namespace commrig::topo
