// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "examples/mc2/matmul.h"

#include <algorithm>
#include <string>

#if !defined(COMMRIG_SANITIZED)
#include <dnnl.h>

// As OpenMP's standard has them. Its header belongs to a compiler, and clang may have none.
extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int threads);
#endif

namespace commrig::operators {

#if defined(COMMRIG_SANITIZED)

// The library is not instrumented, so a sanitizer would see its threads and writes only in part.
Status matmul(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
              std::size_t n) {
  std::fill(c, c + m * n, 0.0F);
  for (std::size_t row = 0; row < m; ++row) {
    for (std::size_t i = 0; i < k; ++i) {
      const float factor = a[row * k + i];
      for (std::size_t column = 0; column < n; ++column) {
        c[row * n + column] += factor * b[i * n + column];
      }
    }
  }
  return ok();
}

#else

// dnnl_sgemm is the one call that oneDNN 2 and 3 have alike.
Status matmul(const float* a, const float* b, float* c, std::size_t m, std::size_t k,
              std::size_t n) {
  // The distribution builds oneDNN over OpenMP, whose team size belongs to the calling thread. A
  // caller that has been here before needs no second call.
  if (omp_get_max_threads() != 1) omp_set_num_threads(1);
  const auto rows = static_cast<dnnl_dim_t>(m);
  const auto inner = static_cast<dnnl_dim_t>(k);
  const auto columns = static_cast<dnnl_dim_t>(n);
  const dnnl_status_t status =
      dnnl_sgemm('N', 'N', rows, columns, inner, 1.0F, a, inner, b, columns, 0.0F, c, columns);
  if (status == dnnl_success) return ok();
  return Error::make(Code::kSystemCall, "dnnl_sgemm returned " + std::to_string(status));
}

#endif

}  // namespace commrig::operators
