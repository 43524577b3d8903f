# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# Answers find_package() for aarch64.cmake from what has no architecture: fmt and Highway as headers
# only, GoogleTest from its sources. The cross compiler must not see /usr/include itself, so the
# headers are reached through links in the build folder.
set(commrig_headers "${CMAKE_BINARY_DIR}/headers")
file(MAKE_DIRECTORY "${commrig_headers}")
foreach(folder fmt hwy)
  file(CREATE_LINK "/usr/include/${folder}" "${commrig_headers}/${folder}" SYMBOLIC)
endforeach()

# commrig_header_library(fmt::fmt DEFINITION...)
function(commrig_header_library target)
  if(NOT TARGET ${target})
    add_library(${target} INTERFACE IMPORTED GLOBAL)
    target_include_directories(${target} SYSTEM INTERFACE "${commrig_headers}")
    target_compile_definitions(${target} INTERFACE ${ARGN})
  endif()
endfunction()

# What isn't named here is looked for as usual.
macro(commrig_provide method package)
  if("${package}" STREQUAL "fmt")
    commrig_header_library(fmt::fmt FMT_HEADER_ONLY)
    set(fmt_FOUND TRUE)
  elseif("${package}" STREQUAL "hwy")
    # One target, chosen by the compiler: then Highway needs no code of its own.
    commrig_header_library(hwy::hwy HWY_COMPILE_ONLY_STATIC)
    set(hwy_FOUND TRUE)
  elseif("${package}" STREQUAL "GTest")
    if(NOT TARGET GTest::gmock_main)
      add_subdirectory(/usr/src/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL)
    endif()
    set(GTest_FOUND TRUE)
  endif()
endmacro()

cmake_language(SET_DEPENDENCY_PROVIDER commrig_provide SUPPORTED_METHODS FIND_PACKAGE)
