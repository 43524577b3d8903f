// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <memory>

#include "commrig/stream.h"

namespace commrig::v0 {

class Group;

// Where a call goes: on a stream at once, or into a group, as `group.on(stream)`. Made for a
// call; the stream and the group must outlive it.
class COMMRIG_API StreamRef {
 public:
  // Implicit: a call takes a Stream as it is.
  StreamRef(Stream& stream) : stream_(&stream) {}  // NOLINT(google-explicit-constructor)

 private:
  friend class Group;
  friend struct Internals;
  StreamRef(Stream& stream, Group& group) : stream_(&stream), group_(&group) {}
  Stream* stream_;
  Group* group_ = nullptr;
};

// Calls that begin together. They are collected, of any communicators and streams, and submit()
// puts them on their streams. The messages of one communicator are under way together, so that
// ranks may send to each other in any order without waiting for each other in a circle. They
// stand where the first of them was called, and all of them on one stream (CR-RUN09 otherwise).
//
//   Group group;
//   comm.send(group.on(stream), out, n, Dtype::kFp32, right);
//   comm.recv(group.on(stream), in, n, Dtype::kFp32, left);
//   Status begun = group.submit();
//
// Used by one thread at a time. It keeps its communicators and streams until it is submitted or
// destroyed; what was not submitted is dropped.
class COMMRIG_API Group {
 public:
  Group();
  Group(Group&& other) noexcept;
  Group& operator=(Group&& other) noexcept;
  ~Group();

  // For the calls of a communicator: the stream, in this group.
  StreamRef on(Stream& stream) { return StreamRef(stream, *this); }

  // Puts the calls on their streams, in the order in which they were made. Their buffers, counts,
  // roots and peers are checked now: the first error is returned, the calls before it are on
  // their streams, and the others are dropped. The group is empty afterwards, and may be used
  // again.
  Status submit();

 private:
  friend struct Internals;
  struct COMMRIG_LOCAL State;
  std::unique_ptr<State> state_;
};

}  // namespace commrig::v0
