/* SPDX-License-Identifier: Apache-2.0 */
/* SPDX-FileCopyrightText: The commrig authors */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "data.h"
#include "meeting.h"
#include "rank.h"

enum { kRepeatsMax = 1000, kLineBytes = 256 };

struct command {
  struct operation operation;
  int warm_up; /* calls before the timed ones */
  int batch;   /* calls that are timed together */
  int repeats; /* of the batch; the call whose result is checked is one more, alone */
  unsigned seed;
};

struct buffers {
  void* input;
  void* output; /* for a broadcast, the input */
};

static void* result_of(const struct rank* rank, const struct operation* operation,
                       struct buffers buffers) {
  return rank->in_input[operation->kind] ? buffers.input : buffers.output;
}

static int calls(const struct rank* rank, const struct operation* operation, struct buffers buffers,
                 int first_root, int count) {
  for (int i = 0; i < count; ++i) {
    const int root = (first_root + i) % rank->ranks;
    if (rank->call(rank->context, operation, buffers.input, buffers.output, root) != 0) return 1;
  }
  return rank->synchronize(rank->context);
}

/* Stamps when this rank began each batch, and when it had its last result. */
static int measure(const struct rank* rank, const struct command* command, struct buffers buffers,
                   struct meeting* meeting, long long* stamps) {
  if (calls(rank, &command->operation, buffers, 0, command->warm_up) != 0) return 1;
  for (int i = 0; i < command->repeats; ++i) {
    if (rank->barrier(rank->context) != 0 || meet(meeting, rank->ranks) != 0) return 1;
    stamps[2 * i] = now_ns();
    if (calls(rank, &command->operation, buffers, 0, command->batch) != 0) return 1;
    stamps[2 * i + 1] = now_ns();
  }
  return rank->barrier(rank->context);
}

/* One more call, on data that no call before has seen. */
static int check(const struct rank* rank, const struct command* command, struct buffers buffers,
                 struct meeting* meeting, long long* stamps, size_t* wrong) {
  const struct operation* operation = &command->operation;
  const int root = (int)(command->seed % (unsigned)rank->ranks);
  if (buffers.output != buffers.input) spoil_output(operation, buffers.output);
  fill_input(operation, rank->rank, command->seed, buffers.input);
  if (meet(meeting, rank->ranks) != 0) return 1;
  stamps[0] = now_ns();
  if (calls(rank, operation, buffers, root, 1) != 0) return 1;
  stamps[1] = now_ns();
  if (rank->barrier(rank->context) != 0) return 1;
  *wrong = count_wrong(operation, rank->rank, rank->ranks, root, command->seed,
                       result_of(rank, operation, buffers));
  return 0;
}

static int with_buffers(const struct rank* rank, const struct command* command,
                        struct meeting* meeting, FILE* driver) {
  static _Thread_local long long stamps[2 * (kRepeatsMax + 1)];
  const struct operation* operation = &command->operation;
  const int in_place = operation->kind == kBroadcast;
  struct buffers buffers = {rank->allocate(rank->context, input_bytes(operation)), NULL};
  buffers.output =
      in_place ? buffers.input : rank->allocate(rank->context, output_bytes(operation));
  if (buffers.input == NULL || buffers.output == NULL) {
    fprintf(stderr, "no memory for two buffers of %zu bytes\n", input_bytes(operation));
    return 1;
  }
  if (!in_place) spoil_output(operation, buffers.output);
  fill_input(operation, rank->rank, ~command->seed, buffers.input);
  size_t wrong = 0;
  if (measure(rank, command, buffers, meeting, stamps) != 0) return 1;
  if (check(rank, command, buffers, meeting, stamps + 2 * command->repeats, &wrong) != 0) {
    return 1;
  }
  rank->release(rank->context, buffers.input, input_bytes(operation));
  if (!in_place) rank->release(rank->context, buffers.output, output_bytes(operation));
  fprintf(driver, "done %zu", wrong);
  for (int i = 0; i < 2 * (command->repeats + 1); ++i) fprintf(driver, " %lld", stamps[i]);
  fprintf(driver, "\n");
  return 0;
}

/* Understands "run OPERATION TYPE BYTES WARM-UP BATCH REPEATS SEED". Returns 0, or 1 for other
 * words and for numbers that make no sense. */
static int parse(const char* line, int ranks, struct command* command) {
  char kind[32];
  char type[16];
  size_t bytes = 0;
  if (sscanf(line, "run %31s %15s %zu %d %d %d %u", kind, type, &bytes, &command->warm_up,
             &command->batch, &command->repeats, &command->seed) != 7) {
    return 1;
  }
  const int kind_number = parse_operation_kind(kind);
  const int type_number = parse_element_type(type);
  if (kind_number < 0 || type_number < 0 || command->warm_up < 0 || command->batch < 1 ||
      command->repeats < 0 || command->repeats > kRepeatsMax) {
    return 1;
  }
  command->operation = make_operation((enum operation_kind)kind_number,
                                      (enum element_type)type_number, bytes, ranks);
  return 0;
}

static int obey(const struct rank* rank, const char* line, struct meeting* meeting, FILE* driver) {
  struct command command;
  if (parse(line, rank->ranks, &command) != 0) {
    fprintf(stderr, "no command: %s", line);
    return 1;
  }
  if (rank->can_do(rank->context, &command.operation)) {
    if (with_buffers(rank, &command, meeting, driver) != 0) return 1;
  } else {
    fprintf(driver, "absent\n");
  }
  return fflush(driver) == 0 ? 0 : 1;
}

/* A connected socket; -1, and a line on stderr, if nobody listens there. */
static int call_driver(const char* path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const size_t length = strlen(path);
  if (file >= 0 && length < sizeof(address.sun_path)) {
    memcpy(address.sun_path, path, length);
    if (connect(file, (const struct sockaddr*)&address, sizeof(address)) == 0) return file;
  } else if (file >= 0) {
    errno = ENAMETOOLONG;
  }
  perror(path);
  if (file >= 0) close(file);
  return -1;
}

static int serve_commands(const struct rank* rank, struct meeting* meeting, FILE* commands,
                          FILE* answers) {
  char line[kLineBytes];
  fprintf(answers, "rank %d\n", rank->rank);
  fflush(answers);
  while (fgets(line, sizeof(line), commands) != NULL) {
    if (obey(rank, line, meeting, answers) != 0) return 1;
  }
  return 0;
}

int serve(const struct rank* rank, const char* socket_path, const char* meeting_path) {
  int failed = 1;
  const int file = call_driver(socket_path);
  if (file < 0) return 1;
  FILE* const answers = fdopen(dup(file), "w");
  FILE* const commands = fdopen(file, "r");
  struct meeting* const meeting = open_meeting(meeting_path);
  if (answers != NULL && commands != NULL && meeting != NULL) {
    failed = serve_commands(rank, meeting, commands, answers);
  }
  if (meeting != NULL) close_meeting(meeting);
  if (commands != NULL) fclose(commands);
  if (answers != NULL) fclose(answers);
  return failed;
}
