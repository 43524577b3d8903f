// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include <algorithm>
#include <array>

#include "faces/cuda/include/cuda_runtime_api.h"
#include "faces/cuda/translate.h"

namespace {

struct Row {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr std::array kRows{
    Row{cudaSuccess, "cudaSuccess", "no error"},
    Row{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    Row{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    Row{cudaErrorInitializationError, "cudaErrorInitializationError", "initialization error"},
    Row{cudaErrorCudartUnloading, "cudaErrorCudartUnloading", "driver shutting down"},
    Row{cudaErrorProfilerDisabled, "cudaErrorProfilerDisabled", "profiler disabled"},
    Row{cudaErrorProfilerNotInitialized, "cudaErrorProfilerNotInitialized",
        "profiler not initialized"},
    Row{cudaErrorProfilerAlreadyStarted, "cudaErrorProfilerAlreadyStarted",
        "profiler already started"},
    Row{cudaErrorProfilerAlreadyStopped, "cudaErrorProfilerAlreadyStopped",
        "profiler already stopped"},
    Row{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
        "invalid configuration argument"},
    Row{cudaErrorInvalidPitchValue, "cudaErrorInvalidPitchValue", "invalid pitch argument"},
    Row{cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    Row{cudaErrorInvalidHostPointer, "cudaErrorInvalidHostPointer", "invalid host pointer"},
    Row{cudaErrorInvalidDevicePointer, "cudaErrorInvalidDevicePointer", "invalid device pointer"},
    Row{cudaErrorInvalidTexture, "cudaErrorInvalidTexture", "invalid texture"},
    Row{cudaErrorInvalidTextureBinding, "cudaErrorInvalidTextureBinding",
        "invalid texture binding"},
    Row{cudaErrorInvalidChannelDescriptor, "cudaErrorInvalidChannelDescriptor",
        "invalid channel descriptor"},
    Row{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
        "invalid copy direction for memcpy"},
    Row{cudaErrorAddressOfConstant, "cudaErrorAddressOfConstant", "address of constant"},
    Row{cudaErrorTextureFetchFailed, "cudaErrorTextureFetchFailed", "texture fetch failed"},
    Row{cudaErrorTextureNotBound, "cudaErrorTextureNotBound", "texture not bound"},
    Row{cudaErrorSynchronizationError, "cudaErrorSynchronizationError", "synchronization error"},
    Row{cudaErrorInvalidFilterSetting, "cudaErrorInvalidFilterSetting", "invalid filter setting"},
    Row{cudaErrorInvalidNormSetting, "cudaErrorInvalidNormSetting", "invalid norm setting"},
    Row{cudaErrorMixedDeviceExecution, "cudaErrorMixedDeviceExecution", "mixed device execution"},
    Row{cudaErrorNotYetImplemented, "cudaErrorNotYetImplemented", "not yet implemented"},
    Row{cudaErrorMemoryValueTooLarge, "cudaErrorMemoryValueTooLarge", "memory value too large"},
    Row{cudaErrorStubLibrary, "cudaErrorStubLibrary", "stub library"},
    Row{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
        "CUDA driver version is insufficient for CUDA runtime version"},
    Row{cudaErrorCallRequiresNewerDriver, "cudaErrorCallRequiresNewerDriver",
        "call requires newer driver"},
    Row{cudaErrorInvalidSurface, "cudaErrorInvalidSurface", "invalid surface"},
    Row{cudaErrorDuplicateVariableName, "cudaErrorDuplicateVariableName",
        "duplicate variable name"},
    Row{cudaErrorDuplicateTextureName, "cudaErrorDuplicateTextureName", "duplicate texture name"},
    Row{cudaErrorDuplicateSurfaceName, "cudaErrorDuplicateSurfaceName", "duplicate surface name"},
    Row{cudaErrorDevicesUnavailable, "cudaErrorDevicesUnavailable", "devices unavailable"},
    Row{cudaErrorIncompatibleDriverContext, "cudaErrorIncompatibleDriverContext",
        "incompatible driver context"},
    Row{cudaErrorMissingConfiguration, "cudaErrorMissingConfiguration", "missing configuration"},
    Row{cudaErrorPriorLaunchFailure, "cudaErrorPriorLaunchFailure", "prior launch failure"},
    Row{cudaErrorLaunchMaxDepthExceeded, "cudaErrorLaunchMaxDepthExceeded",
        "launch max depth exceeded"},
    Row{cudaErrorLaunchFileScopedTex, "cudaErrorLaunchFileScopedTex", "launch file scoped tex"},
    Row{cudaErrorLaunchFileScopedSurf, "cudaErrorLaunchFileScopedSurf", "launch file scoped surf"},
    Row{cudaErrorSyncDepthExceeded, "cudaErrorSyncDepthExceeded", "sync depth exceeded"},
    Row{cudaErrorLaunchPendingCountExceeded, "cudaErrorLaunchPendingCountExceeded",
        "launch pending count exceeded"},
    Row{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
        "invalid device function"},
    Row{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    Row{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    Row{cudaErrorDeviceNotLicensed, "cudaErrorDeviceNotLicensed", "device not licensed"},
    Row{cudaErrorSoftwareValidityNotEstablished, "cudaErrorSoftwareValidityNotEstablished",
        "software validity not established"},
    Row{cudaErrorStartupFailure, "cudaErrorStartupFailure", "startup failure"},
    Row{cudaErrorInvalidKernelImage, "cudaErrorInvalidKernelImage", "invalid kernel image"},
    Row{cudaErrorDeviceUninitialized, "cudaErrorDeviceUninitialized", "device uninitialized"},
    Row{cudaErrorMapBufferObjectFailed, "cudaErrorMapBufferObjectFailed",
        "map buffer object failed"},
    Row{cudaErrorUnmapBufferObjectFailed, "cudaErrorUnmapBufferObjectFailed",
        "unmap buffer object failed"},
    Row{cudaErrorArrayIsMapped, "cudaErrorArrayIsMapped", "array is mapped"},
    Row{cudaErrorAlreadyMapped, "cudaErrorAlreadyMapped", "already mapped"},
    Row{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
        "no kernel image for device"},
    Row{cudaErrorAlreadyAcquired, "cudaErrorAlreadyAcquired", "already acquired"},
    Row{cudaErrorNotMapped, "cudaErrorNotMapped", "not mapped"},
    Row{cudaErrorNotMappedAsArray, "cudaErrorNotMappedAsArray", "not mapped as array"},
    Row{cudaErrorNotMappedAsPointer, "cudaErrorNotMappedAsPointer", "not mapped as pointer"},
    Row{cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable", "ecc uncorrectable"},
    Row{cudaErrorUnsupportedLimit, "cudaErrorUnsupportedLimit",
        "limit is not supported on this architecture"},
    Row{cudaErrorDeviceAlreadyInUse, "cudaErrorDeviceAlreadyInUse", "device already in use"},
    Row{cudaErrorPeerAccessUnsupported, "cudaErrorPeerAccessUnsupported",
        "peer access is not supported between these two devices"},
    Row{cudaErrorInvalidPtx, "cudaErrorInvalidPtx", "invalid ptx"},
    Row{cudaErrorInvalidGraphicsContext, "cudaErrorInvalidGraphicsContext",
        "invalid graphics context"},
    Row{cudaErrorNvlinkUncorrectable, "cudaErrorNvlinkUncorrectable", "nvlink uncorrectable"},
    Row{cudaErrorJitCompilerNotFound, "cudaErrorJitCompilerNotFound", "jit compiler not found"},
    Row{cudaErrorUnsupportedPtxVersion, "cudaErrorUnsupportedPtxVersion",
        "unsupported ptx version"},
    Row{cudaErrorJitCompilationDisabled, "cudaErrorJitCompilationDisabled",
        "jit compilation disabled"},
    Row{cudaErrorUnsupportedExecAffinity, "cudaErrorUnsupportedExecAffinity",
        "unsupported exec affinity"},
    Row{cudaErrorUnsupportedDevSideSync, "cudaErrorUnsupportedDevSideSync",
        "unsupported dev side sync"},
    Row{cudaErrorInvalidSource, "cudaErrorInvalidSource", "invalid source"},
    Row{cudaErrorFileNotFound, "cudaErrorFileNotFound", "file not found"},
    Row{cudaErrorSharedObjectSymbolNotFound, "cudaErrorSharedObjectSymbolNotFound",
        "shared object symbol not found"},
    Row{cudaErrorSharedObjectInitFailed, "cudaErrorSharedObjectInitFailed",
        "shared object init failed"},
    Row{cudaErrorOperatingSystem, "cudaErrorOperatingSystem",
        "OS call failed or operation not supported on this OS"},
    Row{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
        "invalid resource handle"},
    Row{cudaErrorIllegalState, "cudaErrorIllegalState",
        "the operation cannot be performed in the present state"},
    Row{cudaErrorLossyQuery, "cudaErrorLossyQuery", "lossy query"},
    Row{cudaErrorSymbolNotFound, "cudaErrorSymbolNotFound", "named symbol not found"},
    Row{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    Row{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
        "an illegal memory access was encountered"},
    Row{cudaErrorLaunchOutOfResources, "cudaErrorLaunchOutOfResources", "launch out of resources"},
    Row{cudaErrorLaunchTimeout, "cudaErrorLaunchTimeout", "launch timeout"},
    Row{cudaErrorLaunchIncompatibleTexturing, "cudaErrorLaunchIncompatibleTexturing",
        "launch incompatible texturing"},
    Row{cudaErrorPeerAccessAlreadyEnabled, "cudaErrorPeerAccessAlreadyEnabled",
        "peer access is already enabled"},
    Row{cudaErrorPeerAccessNotEnabled, "cudaErrorPeerAccessNotEnabled",
        "peer access has not been enabled"},
    Row{cudaErrorSetOnActiveProcess, "cudaErrorSetOnActiveProcess", "set on active process"},
    Row{cudaErrorContextIsDestroyed, "cudaErrorContextIsDestroyed", "context is destroyed"},
    Row{cudaErrorAssert, "cudaErrorAssert", "device-side assert triggered"},
    Row{cudaErrorTooManyPeers, "cudaErrorTooManyPeers", "too many peers"},
    Row{cudaErrorHostMemoryAlreadyRegistered, "cudaErrorHostMemoryAlreadyRegistered",
        "part or all of the requested memory range is already mapped"},
    Row{cudaErrorHostMemoryNotRegistered, "cudaErrorHostMemoryNotRegistered",
        "pointer does not correspond to a registered memory region"},
    Row{cudaErrorHardwareStackError, "cudaErrorHardwareStackError", "hardware stack error"},
    Row{cudaErrorIllegalInstruction, "cudaErrorIllegalInstruction", "illegal instruction"},
    Row{cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    Row{cudaErrorInvalidAddressSpace, "cudaErrorInvalidAddressSpace", "invalid address space"},
    Row{cudaErrorInvalidPc, "cudaErrorInvalidPc", "invalid pc"},
    Row{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    Row{cudaErrorCooperativeLaunchTooLarge, "cudaErrorCooperativeLaunchTooLarge",
        "too many blocks in cooperative launch"},
    Row{cudaErrorNotPermitted, "cudaErrorNotPermitted", "operation not permitted"},
    Row{cudaErrorNotSupported, "cudaErrorNotSupported", "operation not supported"},
    Row{cudaErrorSystemNotReady, "cudaErrorSystemNotReady", "system not ready"},
    Row{cudaErrorSystemDriverMismatch, "cudaErrorSystemDriverMismatch", "system driver mismatch"},
    Row{cudaErrorCompatNotSupportedOnDevice, "cudaErrorCompatNotSupportedOnDevice",
        "compat not supported on device"},
    Row{cudaErrorMpsConnectionFailed, "cudaErrorMpsConnectionFailed", "mps connection failed"},
    Row{cudaErrorMpsRpcFailure, "cudaErrorMpsRpcFailure", "mps rpc failure"},
    Row{cudaErrorMpsServerNotReady, "cudaErrorMpsServerNotReady", "mps server not ready"},
    Row{cudaErrorMpsMaxClientsReached, "cudaErrorMpsMaxClientsReached", "mps max clients reached"},
    Row{cudaErrorMpsMaxConnectionsReached, "cudaErrorMpsMaxConnectionsReached",
        "mps max connections reached"},
    Row{cudaErrorMpsClientTerminated, "cudaErrorMpsClientTerminated", "mps client terminated"},
    Row{cudaErrorCdpNotSupported, "cudaErrorCdpNotSupported", "cdp not supported"},
    Row{cudaErrorCdpVersionMismatch, "cudaErrorCdpVersionMismatch", "cdp version mismatch"},
    Row{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
        "operation not permitted when stream is capturing"},
    Row{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
        "stream capture invalidated"},
    Row{cudaErrorStreamCaptureMerge, "cudaErrorStreamCaptureMerge", "stream capture merge"},
    Row{cudaErrorStreamCaptureUnmatched, "cudaErrorStreamCaptureUnmatched",
        "stream capture unmatched"},
    Row{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
        "stream capture unjoined"},
    Row{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
        "stream capture isolation"},
    Row{cudaErrorStreamCaptureImplicit, "cudaErrorStreamCaptureImplicit",
        "stream capture implicit"},
    Row{cudaErrorCapturedEvent, "cudaErrorCapturedEvent", "captured event"},
    Row{cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
        "stream capture wrong thread"},
    Row{cudaErrorTimeout, "cudaErrorTimeout", "wait operation timed out"},
    Row{cudaErrorGraphExecUpdateFailure, "cudaErrorGraphExecUpdateFailure",
        "graph exec update failure"},
    Row{cudaErrorExternalDevice, "cudaErrorExternalDevice", "external device"},
    Row{cudaErrorInvalidClusterSize, "cudaErrorInvalidClusterSize", "invalid cluster size"},
    Row{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
    Row{cudaErrorApiFailureBase, "cudaErrorApiFailureBase", "api failure base"},
};

const Row* find(cudaError_t error) {
  const auto* const place = std::ranges::find(kRows, error, &Row::error);
  return place == kRows.end() ? nullptr : place;
}

}  // namespace

extern "C" {

const char* cudaGetErrorName(cudaError_t error) {
  const Row* const row = find(error);
  return row == nullptr ? "unrecognized error code" : row->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const Row* const row = find(error);
  return row == nullptr ? "unrecognized error code" : row->text;
}

cudaError_t cudaGetLastError(void) {
  return commrig::cuda::take_last_error();
}

cudaError_t cudaPeekAtLastError(void) {
  return commrig::cuda::last_error();
}

}  // extern "C"
