# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# Toolchain for 64-bit Arm on another machine: a cross compiler, static programs, and an emulator
# that runs them. Only what dtype_test needs is built (preset `neon`). Libraries of the other
# architecture aren't installed; aarch64_dependencies.cmake takes their place.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
