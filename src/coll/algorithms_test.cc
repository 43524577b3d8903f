// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "coll/algorithms.h"

#include <set>

#include <gtest/gtest.h>

#include "coll/verifier.h"

namespace commrig::coll {
namespace {

TEST(Algorithms, Quick) {
  int count = 0;
  for (const Algorithm& a : all_algorithms())
    for (int c = 0; c < kCollectives; ++c) {
      if (!a.form(Collective(c))) continue;
      for (int n = 1; n <= 9; ++n)
        for (int root = 0; root < (has_root(Collective(c)) ? n : 1); ++root)
          for (int ip = 0; ip < 2; ++ip)
            for (size_t cnt :
                 std::set<size_t>{0, 1, size_t(n - 1), size_t(n), size_t(n + 1), 17, 50}) {
              Request r{Collective(c), n, root, cnt, 4, bool(ip)};
              if (has_counts(r.collective)) {
                size_t k = r.collective == Collective::kAllToAllV ? size_t(n * n) : size_t(n);
                for (size_t i = 0; i < k; ++i) r.counts.push_back((i * 7 + cnt) % (cnt + 1));
              }
              auto set = make_plan_set(a, r, {.chunk_bytes = 20});
              ASSERT_TRUE(set);
              auto v = verify(*set);
              ++count;
              ASSERT_FALSE(v.defect) << a.name << " " << name(r.collective) << " n" << n << " root "
                                     << root << " ip" << ip << " count " << cnt << "\n"
                                     << to_string(*v.defect);
            }
    }
  std::printf("%d\n", count);
}

}  // namespace
}  // namespace commrig::coll
