# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

find_package(Threads REQUIRED)

# Source locations in messages read src/..., wherever the checkout lies. Our ccache gives the
# compiler paths relative to the build folder; the absolute one on the command line would keep
# checkouts from sharing objects.
if(COMMRIG_CCACHE)
  file(RELATIVE_PATH commrig_source_prefix "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
else()
  set(commrig_source_prefix "${PROJECT_SOURCE_DIR}/")
endif()

# What every target of ours is compiled with; linked privately, so that no consumer inherits it.
add_library(commrig_build_flags INTERFACE)
target_compile_features(commrig_build_flags INTERFACE cxx_std_20)
target_compile_options(
  commrig_build_flags
  INTERFACE
    -Wall
    -Wextra
    -Wshadow
    -Wconversion
    $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
    $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wthread-safety>
    # Results must be the same bits on every machine: a multiply and an add are never fused.
    -ffp-contract=off
    "-fmacro-prefix-map=${commrig_source_prefix}=")

# Coverage of every object guides the fuzzer.
if(COMMRIG_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Sanitizers concern every object of a program, so they are set for the whole tree.
if(COMMRIG_SANITIZE)
  list(JOIN COMMRIG_SANITIZE "," commrig_sanitize_list)
  add_compile_options(-fsanitize=${commrig_sanitize_list} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${commrig_sanitize_list})
  add_compile_definitions(COMMRIG_SANITIZED=1)
  if("thread" IN_LIST COMMRIG_SANITIZE)
    add_compile_definitions(COMMRIG_TSAN=1)
  endif()
endif()

# What files include costs a sanitizer most of its compile time, so it gets several at once. Their
# private names must differ then: whoever adds a file and is told of a redefinition renames one, or
# says commrig_compile_alone(). Names of one file may hide those of another.
if(COMMRIG_SANITIZE)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
  target_compile_options(commrig_build_flags INTERFACE -Wno-shadow)
endif()

# For shared libraries: every symbol must be found when they are linked. Clang leaves the runtime of
# sanitizers to the program.
set(commrig_link_closed LINKER:-z,defs)
if(COMMRIG_SANITIZE)
  set(commrig_link_closed "")
endif()
