// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "faces/cuda/include/driver_types.h"

namespace commrig::cuda {

// What a simulated device says of itself: compute capability 9.0, so that libraries choose what
// newer devices have. All devices are alike but for their place on the bus.
cudaDeviceProp properties_of(int device);

// The struct of runtime 11 has so many of the same bytes.
inline constexpr std::size_t kPropertyBytes11 = offsetof(cudaDeviceProp, hostRegisterSupported);

// The struct of runtime 13, which leaves out eight members of runtime 12's and has others behind.
inline constexpr std::size_t kPropertyBytes13 = 1008;
std::array<std::byte, kPropertyBytes13> properties_13(const cudaDeviceProp& properties);

// One of them by its number; nothing for a number that there is none of.
std::optional<int> attribute_of(const cudaDeviceProp& properties, cudaDeviceAttr attribute);

// "0000:01:00.0", different for each device.
std::string bus_id_of(int device);
inline constexpr int kBusIdBytes = 13;

}  // namespace commrig::cuda
