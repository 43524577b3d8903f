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

#ifdef COMMRIG_NCCL_VERSION_2_27
#define COMMRIG_EXPECTED_VERSION 22707
#else
#define COMMRIG_EXPECTED_VERSION 22809
#endif
/* An array of -1 elements is no type. */
typedef char commrig_version_is_right[NCCL_VERSION_CODE == COMMRIG_EXPECTED_VERSION ? 1 : -1];

int commrig_headers(void) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
  return config.blocking == NCCL_CONFIG_UNDEF_INT && info.magic == 0x74685283 ? NCCL_VERSION_CODE
                                                                              : 0;
}
