// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.h"
#include "base/socket.h"

namespace commrig {

// Descriptors that one message carries at most (SCM_MAX_FD of Linux is 253).
inline constexpr std::size_t kDescriptorsMax = 64;

// Connects to Listener::open_unix of another process.
Result<Socket> connect_unix(const std::string& name, const Waiting& waiting);

// Two connected ends.
Result<std::pair<Socket, Socket>> unix_pair();

// Sends all bytes, at least one, and the descriptors with the first of them; the receiver gets
// copies of its own.
Status send_descriptors(const Socket& socket, std::span<const std::byte> bytes,
                        std::span<const int> descriptors, const Waiting& waiting);

// Fills `bytes` and returns the descriptors that came with them, closed on exec. To have another
// number of them than `expected` is an error.
Result<std::vector<Descriptor>> recv_descriptors(const Socket& socket, std::span<std::byte> bytes,
                                                 std::size_t expected, const Waiting& waiting);

// The process at the other end of a unix connection, as the system knows it.
Result<pid_t> peer_process(const Socket& socket);

}  // namespace commrig
