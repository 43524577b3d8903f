# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The commrig authors

# commrig_face_library(TARGET OUTPUT VERSION FOLDER [NAMELINK])
#
# Gives the shared library the name lib<OUTPUT>.so.<VERSION> of a vendor, and installs it into
# <FOLDER> of the prefix, a root as the vendor's own package has it. It finds our library from where
# it lies, so that the prefix may be moved. With NAMELINK, programs are linked to this one.
function(commrig_face_library target output version folder)
  file(RELATIVE_PATH up "/prefix/${folder}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(
    ${target}
    PROPERTIES OUTPUT_NAME "${output}"
               SOVERSION "${version}"
               LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib/${target}"
               INSTALL_RPATH "$ORIGIN/${up}")
  if(NOT COMMRIG_INSTALL)
    return()
  endif()
  if("NAMELINK" IN_LIST ARGN)
    install(TARGETS ${target} LIBRARY DESTINATION "${folder}" COMPONENT runtime
                                      NAMELINK_COMPONENT dev)
  else()
    install(TARGETS ${target} LIBRARY DESTINATION "${folder}" COMPONENT runtime NAMELINK_SKIP)
  endif()
endfunction()
