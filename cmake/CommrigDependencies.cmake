# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# Everything comes from the distribution; tools/install-deps has the package names. Found here,
# once, so that the imported targets are visible in every folder.
find_package(fmt 9 REQUIRED)
find_package(hwy 1.0.3 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

if(COMMRIG_BUILD_CLI)
  find_package(CLI11 2.1 REQUIRED)
endif()

# Matrix products; sanitizer builds use a plain loop, because the library isn't instrumented.
if((COMMRIG_BUILD_CLI OR COMMRIG_BUILD_EXAMPLES) AND NOT COMMRIG_SANITIZE)
  find_package(OneDNN REQUIRED)
endif()

if(COMMRIG_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
endif()

if(COMMRIG_BUILD_BENCHMARKS)
  find_package(benchmark 1.7 REQUIRED)
endif()
