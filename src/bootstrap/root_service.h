// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/executor.h"
#include "base/socket.h"
#include "bootstrap/delivery.h"
#include "bootstrap/entrance.h"
#include "bootstrap/root.h"
#include "bootstrap/roster.h"

namespace commrig::bootstrap {

// What the thread of a Root does: one poll over the listener, the connections that say nothing yet,
// those of ranks that have checked in, and the answers on their way.
class RootService {
 public:
  RootService(Root& root, Executor& executor, Listener listener, const RootOptions& options);
  // Until the root is closed.
  void run();

 private:
  // The connection over which a rank has checked in. It shows the rank's end, and ours to the rank.
  struct Guest {
    Socket socket;
    int rank = -1;
    std::vector<std::byte> process;  // the bytes of its process id
    bool attached() const { return process.size() == sizeof(std::int32_t); }
  };

  void look_at(const std::vector<pollfd>& polls);
  void receive(Entrance::News news);
  void admit(Entrance::Arrival arrival);
  // Whether the guest is still there.
  bool hear(Guest& guest);
  void on_gone(const Guest& guest);
  void start_deliveries();
  void step(Delivery& delivery, bool& finished);
  void look_at_time();
  void tell(int rank, const Address& to, const Error& error);
  void fail(const Error& error);
  void say_goodbye();
  Nanos next_look() const;
  std::string state() const;

  Root& root_;
  Executor& executor_;
  RootOptions options_;
  Entrance entrance_;
  Roster roster_;
  std::vector<Guest> guests_;
  std::deque<Delivery> queue_;        // not begun
  std::vector<Delivery> deliveries_;  // under way
  std::vector<bool> answered_;        // by rank
  int answers_left_ = 0;
  std::optional<Error> refusal_;  // what everybody is told who comes or waits now
  Nanos first_check_in_ = kForever;
  Nanos next_naming_ = kForever;
};

}  // namespace commrig::bootstrap
