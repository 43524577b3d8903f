// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#pragma once

// What the faces use of the shared library, beside its public interface: they are built with it and
// installed with it, so there is no promise to anybody else.
#define COMMRIG_RIG __attribute__((visibility("default")))
