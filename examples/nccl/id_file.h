/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#ifndef EXAMPLES_NCCL_ID_FILE_H
#define EXAMPLES_NCCL_ID_FILE_H

#include <unistd.h>

#include "check.h"

/* A number that a launcher has set; `other` is another launcher's name for it, or NULL. */
static inline int launcher_number(const char* name, const char* other) {
  const char* text = getenv(name);
  if (text == NULL && other != NULL) text = getenv(other);
  if (text == NULL) {
    fprintf(stderr, "%s is not set; start the program by commrig run or torchrun\n", name);
    exit(1);
  }
  return atoi(text);
}

/* The name appears when the file is complete. */
static inline void write_id(const char* path, const ncclUniqueId* id) {
  char draft[4096];
  if (snprintf(draft, sizeof(draft), "%s.draft", path) >= (int)sizeof(draft)) exit(1);
  FILE* file = fopen(draft, "wb");
  if (file == NULL || fwrite(id, sizeof(*id), 1, file) != 1) exit(1);
  if (fclose(file) != 0 || rename(draft, path) != 0) exit(1);
}

static inline void read_id(const char* path, ncclUniqueId* id) {
  FILE* file = NULL;
  while ((file = fopen(path, "rb")) == NULL) {
    usleep(1000);
  }
  if (fread(id, sizeof(*id), 1, file) != 1) exit(1);
  fclose(file);
}

#endif
