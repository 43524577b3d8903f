# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

include(GoogleTest)

# commrig_module(
#   NAME base
#   SOURCES a.cc b.cc          x.h beside x.cc needs no mention
#   [HEADERS c.h]              headers without a source file; each is compiled by itself
#   [DEPS dtype base]          linked publicly; a plain name N stands for commrig::N
#   [PRIVATE fmt::fmt]         linked privately
#   [TESTS a_test.cc]          one GoogleTest executable, <name>_test
#   [TEST_DEPS device]         what the tests and benchmarks link besides
#   [TEST_LABELS unit]         CTest labels, `unit` by default
#   [BENCHES a_bench.cc])      one Google Benchmark executable, <name>_bench, in <build>/bench
#
# Makes the static library commrig_<name> and its alias commrig::<name>. Includes start at src/ in
# src, and at the root of the repository elsewhere ("examples/mc2/x.h").
function(commrig_module)
  cmake_parse_arguments(
    ARG "" "NAME" "SOURCES;HEADERS;DEPS;PRIVATE;TESTS;TEST_DEPS;TEST_LABELS;BENCHES" ${ARGN})
  commrig_reject_unparsed(commrig_module "${ARG_UNPARSED_ARGUMENTS}")
  commrig_target_names(ARG_DEPS ${ARG_DEPS})
  commrig_target_names(ARG_PRIVATE ${ARG_PRIVATE})
  commrig_target_names(ARG_TEST_DEPS ${ARG_TEST_DEPS})
  commrig_include_root(include_root)

  set(target commrig_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SOURCES})
  add_library(commrig::${ARG_NAME} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${ARG_NAME})
  target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${include_root}>")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_link_libraries(
    ${target}
    PUBLIC ${ARG_DEPS} Threads::Threads
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:commrig_build_flags>)

  if(COMMRIG_BUILD_TESTS)
    commrig_verify_headers(${ARG_NAME} ${ARG_HEADERS})
    if(ARG_TESTS)
      commrig_add_tests(${ARG_NAME} SOURCES ${ARG_TESTS} LINK ${ARG_PRIVATE} ${ARG_TEST_DEPS}
                        LABELS ${ARG_TEST_LABELS})
    endif()
  endif()
  if(COMMRIG_BUILD_BENCHMARKS AND ARG_BENCHES)
    add_executable(${ARG_NAME}_bench ${ARG_BENCHES})
    set_target_properties(${ARG_NAME}_bench PROPERTIES RUNTIME_OUTPUT_DIRECTORY
                                                       "${PROJECT_BINARY_DIR}/bench")
    target_link_libraries(
      ${ARG_NAME}_bench PRIVATE commrig::${ARG_NAME} ${ARG_PRIVATE} ${ARG_TEST_DEPS}
                                commrig_build_flags benchmark::benchmark_main)
  endif()
endfunction()

# commrig_executable(
#   NAME commrig_cli           name of the target
#   [OUTPUT commrig]           name of the file, the target's by default
#   SOURCES main.cc
#   [DEPS mc2] [PRIVATE fmt::fmt CLI11::CLI11]
#   [INSTALL])                 goes into bin/ of the prefix
function(commrig_executable)
  cmake_parse_arguments(ARG "INSTALL" "NAME;OUTPUT" "SOURCES;DEPS;PRIVATE" ${ARGN})
  commrig_reject_unparsed(commrig_executable "${ARG_UNPARSED_ARGUMENTS}")
  commrig_target_names(ARG_DEPS ${ARG_DEPS} ${ARG_PRIVATE})
  commrig_include_root(include_root)

  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE "${include_root}")
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} Threads::Threads commrig_build_flags)
  if(ARG_OUTPUT)
    set_target_properties(${ARG_NAME} PROPERTIES OUTPUT_NAME ${ARG_OUTPUT})
  endif()
  if(ARG_INSTALL AND COMMRIG_INSTALL)
    install(TARGETS ${ARG_NAME} RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT runtime)
  endif()
endfunction()

# These files of this folder are compiled by themselves even where others are compiled together.
function(commrig_compile_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# The test executable <name>_test of the module `name`; CTest names its tests <name>.<suite>.<test>.
function(commrig_add_tests name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  set(timeout_s 60)
  if(COMMRIG_SANITIZE)
    set(timeout_s 300)
  endif()

  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE commrig::${name} ${ARG_LINK} commrig_build_flags
                                             GTest::gmock_main)
  gtest_discover_tests(
    ${name}_test
    TEST_PREFIX "${name}."
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${timeout_s})
endfunction()

# Compiles each header by itself. Headers beside a source file of the same name need no such check:
# the source file includes its own header first, and the lint sees to that.
function(commrig_verify_headers name)
  # One build of them tells as much as another.
  if(COMMRIG_SANITIZE)
    return()
  endif()
  if(NOT ARGN)
    return()
  endif()
  commrig_include_root(include_root)
  set(checks "")
  foreach(header IN LISTS ARGN)
    file(RELATIVE_PATH from_root "${include_root}" "${CMAKE_CURRENT_SOURCE_DIR}/${header}")
    set(check "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cc")
    file(CONFIGURE OUTPUT "${check}" CONTENT "#include \"${from_root}\"\n")
    list(APPEND checks "${check}")
  endforeach()
  add_library(commrig_${name}_headers OBJECT ${checks})
  target_link_libraries(commrig_${name}_headers PRIVATE commrig::${name} commrig_build_flags)
endfunction()

# Plain names stand for modules of ours, names with :: for themselves.
function(commrig_target_names output)
  list(TRANSFORM ARGN REPLACE "^([a-z0-9_]+)$" "commrig::\\1" OUTPUT_VARIABLE names)
  set(${output} "${names}" PARENT_SCOPE)
endfunction()

function(commrig_include_root output)
  set(root "${PROJECT_SOURCE_DIR}")
  set(source_root "${PROJECT_SOURCE_DIR}/src")
  cmake_path(IS_PREFIX source_root "${CMAKE_CURRENT_SOURCE_DIR}" in_src)
  if(in_src)
    set(root "${source_root}")
  endif()
  set(${output} "${root}" PARENT_SCOPE)
endfunction()

function(commrig_reject_unparsed caller)
  if(ARGN AND NOT "${ARGN}" STREQUAL "")
    message(FATAL_ERROR "${caller}: unknown arguments: ${ARGN}")
  endif()
endfunction()

# commrig_fuzzer(NAME mc2_message SOURCES message_fuzz.cc DEPS mc2
#                CORPUS tests/data/fuzz/mc2_message)
#
# A libFuzzer program <name>_fuzz in <build>/fuzz, with clang and COMMRIG_BUILD_FUZZERS only. Beside
# it lies the name of its corpus, for tools/fuzz.
function(commrig_fuzzer)
  cmake_parse_arguments(ARG "" "NAME;CORPUS" "SOURCES;DEPS" ${ARGN})
  commrig_reject_unparsed(commrig_fuzzer "${ARG_UNPARSED_ARGUMENTS}")
  if(NOT COMMRIG_BUILD_FUZZERS)
    return()
  endif()
  commrig_target_names(ARG_DEPS ${ARG_DEPS})
  set(target ${ARG_NAME}_fuzz)
  add_executable(${target} ${ARG_SOURCES})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fuzz")
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} commrig_build_flags)
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  file(WRITE "${PROJECT_BINARY_DIR}/fuzz/${target}.corpus" "${PROJECT_SOURCE_DIR}/${ARG_CORPUS}\n")
endfunction()
