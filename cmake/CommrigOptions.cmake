# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# What is built. A project that includes this one gets the library only.
option(COMMRIG_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(COMMRIG_BUILD_BENCHMARKS "Build the benchmarks" OFF)
option(COMMRIG_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(COMMRIG_BUILD_CLI "Build the command line program" ${PROJECT_IS_TOP_LEVEL})
option(COMMRIG_BUILD_FACES "Build the libraries with interfaces of vendors" ${PROJECT_IS_TOP_LEVEL})
option(COMMRIG_BUILD_FUZZERS "Build the fuzz targets; needs clang" OFF)
option(COMMRIG_INSTALL "Make install rules" ${PROJECT_IS_TOP_LEVEL})
set(COMMRIG_SANITIZE "" CACHE STRING "Sanitizers: address;undefined or thread")

# Single-configuration generators build nothing useful without a build type.
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(COMMRIG_CCACHE ccache)
  mark_as_advanced(COMMRIG_CCACHE)
  if(COMMRIG_CCACHE)
    # Objects are found again by a checkout in another folder.
    set(commrig_launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
                         "${COMMRIG_CCACHE}")
    set(CMAKE_C_COMPILER_LAUNCHER "${commrig_launcher}")
    set(CMAKE_CXX_COMPILER_LAUNCHER "${commrig_launcher}")
  endif()
endif()
