# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# Installs the library, its headers, and what CMake and pkg-config need to find them.
include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/commrig")
install(
  TARGETS commrig_library
  EXPORT commrigTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime NAMELINK_COMPONENT dev
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT dev)
install(EXPORT commrigTargets NAMESPACE commrig:: DESTINATION "${package_dir}" COMPONENT dev)

# The library needs nothing of its consumers, so the configuration is the targets alone.
file(CONFIGURE OUTPUT "${PROJECT_BINARY_DIR}/commrigConfig.cmake"
     CONTENT "include(\"\${CMAKE_CURRENT_LIST_DIR}/commrigTargets.cmake\")\n" @ONLY)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/commrigConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/commrigConfig.cmake"
              "${PROJECT_BINARY_DIR}/commrigConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT dev)

# Found from where the file lies, so that the prefix may be moved; the number of folders up to it
# depends on the library folder ("lib", "lib/x86_64-linux-gnu").
file(RELATIVE_PATH commrig_up "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
configure_file("${PROJECT_SOURCE_DIR}/cmake/commrig.pc.in" "${PROJECT_BINARY_DIR}/commrig.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/commrig.pc"
        DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT dev)
