// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/memory.h"

#include <fmt/format.h>

#include "faces/nccl/comm.h"
#include "faces/nccl/translate.h"
#include "rig/runtime.h"

namespace commrig::nccl {
namespace {

// A function that programs may link and that does nothing yet.
ncclResult_t not_yet(const char* call) {
  return enter([&] { return translate(Error::make(Code::kNotYet, call)); });
}

ncclResult_t register_buffer(Comm& comm, void* buffer, std::size_t bytes, void** handle) {
  if (buffer == nullptr || bytes == 0 || handle == nullptr) {
    return refuse(ncclInvalidArgument,
                  fmt::format("CommRegister : {} bytes at {}, handle {}", bytes, buffer,
                              static_cast<const void*>(handle)));
  }
  // Memory is reached without it, so only the pairing is kept.
  const auto registrations = comm.registrations.lock();
  (*registrations)[buffer] = bytes;
  *handle = buffer;
  return ncclSuccess;
}

}  // namespace
}  // namespace commrig::nccl

using namespace commrig::nccl;  // NOLINT(google-build-using-namespace): the interface is C
namespace rig = commrig::rig;

COMMRIG_NCCL(ncclMemAlloc, void** ptr, size_t size) {
  return enter([&]() -> ncclResult_t {
    if (ptr == nullptr) return refuse(ncclInvalidArgument, "ncclMemAlloc : ptr argument is NULL");
    if (size == 0) return refuse(ncclInvalidArgument, "ncclMemAlloc : size is 0");
    const auto made = rig::allocate(rig::current_device(), size);
    if (!made) return translate(made.error());
    *ptr = *made;
    return ncclSuccess;
  });
}

COMMRIG_NCCL(ncclMemFree, void* ptr) {
  return enter([&] { return translate(rig::release(ptr)); });
}

COMMRIG_NCCL(ncclCommRegister, const ncclComm_t comm, void* buff, size_t size, void** handle) {
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(find_ready_comm(comm, "CommRegister", found));
    return register_buffer(*found, buff, size, handle);
  });
}

COMMRIG_NCCL(ncclCommDeregister, const ncclComm_t comm, void* handle) {
  return enter([&]() -> ncclResult_t {
    CommPtr found;
    COMMRIG_NCCL_TRY(find_comm(comm, "CommDeregister", found));
    if (found->registrations.lock()->erase(handle) == 1) return ncclSuccess;
    return refuse(ncclInvalidArgument,
                  fmt::format("CommDeregister : {} is no handle of this communicator", handle));
  });
}

COMMRIG_NCCL(ncclCommRevoke, ncclComm_t, int) {
  return not_yet("ncclCommRevoke");
}

COMMRIG_NCCL(ncclCommShrink, ncclComm_t, int*, int, ncclComm_t* newcomm, ncclConfig_t*, int) {
  if (newcomm != nullptr) *newcomm = nullptr;
  return not_yet("ncclCommShrink");
}

COMMRIG_NCCL(ncclCommWindowRegister, ncclComm_t, void*, size_t, ncclWindow_t* win, int) {
  if (win != nullptr) *win = nullptr;
  return not_yet("ncclCommWindowRegister");
}

// There is no window that it could end, but for none.
COMMRIG_NCCL(ncclCommWindowDeregister, ncclComm_t, ncclWindow_t win) {
  return win == nullptr ? ncclSuccess : not_yet("ncclCommWindowDeregister");
}
