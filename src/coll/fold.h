// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <bit>

namespace commrig::coll {

// Algorithms for powers of two make other numbers of ranks smaller first: of the first 2 * extra
// ranks each even one hands its part to the odd one behind it and sits out. The others are
// `members`, a power of two, numbered without gaps. Thakur, Rabenseifner, Gropp 2005, 3.5.
class Fold {
 public:
  explicit Fold(int ranks)
      : members_(static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks)))),
        extra_(ranks - members_) {}

  int members() const { return members_; }
  bool sits_out(int rank) const { return rank < 2 * extra_ && rank % 2 == 0; }
  bool takes_two(int rank) const { return rank < 2 * extra_ && rank % 2 == 1; }
  int member_of(int rank) const { return rank < 2 * extra_ ? rank / 2 : rank - extra_; }
  int rank_of(int member) const { return member < extra_ ? 2 * member + 1 : member + extra_; }
  // The first rank whose part member `member` has; for members() the number of ranks.
  int first_rank(int member) const { return member < extra_ ? 2 * member : member + extra_; }

 private:
  int members_;
  int extra_;
};

}  // namespace commrig::coll
