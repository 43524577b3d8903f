/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
/* Every header of the faces, by a C and by a C++ compiler that complain. */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cuda_runtime_api.h>
#include <library_types.h>
#include <nccl.h>
#include <vector_types.h>
#ifdef __cplusplus
#include <commrig_kernel.h>
#endif

int commrig_headers(void) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  return config.blocking == NCCL_CONFIG_UNDEF_INT && info.magic == 0x74685283 ? NCCL_VERSION_CODE
                                                                              : 0;
}
