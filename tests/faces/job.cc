// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors

// A rank of a job, for job_test.py: job WHAT [NUMBER] under commrig run. Ranks meet by NCCL_COMM_ID
// on the port that commrig run keeps for its job.
#include <cuda_runtime.h>
#include <nccl.h>
#include <signal.h>
#include <string.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace {

[[noreturn]] void give_up(const char* what, int line, const char* why) {
  std::fprintf(stderr, "%s, line %d: %s (%s)\n", what, line, why, ncclGetLastError(nullptr));
  std::exit(1);
}

#define CUDA(call)                                                          \
  if (const cudaError_t cuda_result = (call); cuda_result != cudaSuccess) { \
    give_up(#call, __LINE__, cudaGetErrorString(cuda_result));              \
  }
#define NCCL(call)                                                           \
  if (const ncclResult_t nccl_result = (call); nccl_result != ncclSuccess) { \
    give_up(#call, __LINE__, ncclGetErrorString(nccl_result));               \
  }
#define CHECK(condition) \
  if (!(condition)) give_up(#condition, __LINE__, "is not so")

int number(const char* name) {
  const char* const text = std::getenv(name);
  CHECK(text != nullptr);
  return std::atoi(text);
}

ncclUniqueId meeting() {
  const std::string address = "127.0.0.1:" + std::to_string(number("COMMRIG_PORT"));
  ::setenv("NCCL_COMM_ID", address.c_str(), 1);
  ncclUniqueId id;
  NCCL(ncclGetUniqueId(&id));
  return id;
}

class Job {
 public:
  Job() {
    CUDA(cudaSetDevice(number("LOCAL_RANK")));
    NCCL(ncclCommInitRank(&comm, ranks, meeting(), rank));
    CUDA(cudaStreamCreate(&stream));
  }
  ~Job() { NCCL(ncclCommDestroy(comm)); }

  const int rank = number("RANK");
  const int ranks = number("WORLD_SIZE");
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

// Device memory of ints; element i is value(i) at first.
class Ints {
 public:
  Ints(int count, const std::function<int(int)>& value) : count_(count) {
    std::vector<int> made;
    for (int i = 0; i < count; ++i) made.push_back(value(i));
    CUDA(cudaMalloc(&data, sizeof(int) * static_cast<size_t>(count)));
    CUDA(cudaMemcpy(data, made.data(), made.size() * sizeof(int), cudaMemcpyHostToDevice));
  }
  ~Ints() { CUDA(cudaFree(data)); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;

  int* at(int offset) const { return static_cast<int*>(data) + offset; }
  void expect(const Job& job, const std::function<int(int)>& value) const {
    CUDA(cudaStreamSynchronize(job.stream));
    std::vector<int> read(static_cast<size_t>(count_));
    CUDA(cudaMemcpy(read.data(), data, read.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < count_; ++i) CHECK(read[static_cast<size_t>(i)] == value(i));
  }

  void* data = nullptr;

 private:
  int count_;
};

// Every collective once, with ints that tell rank and place.
void every_collective(const Job& job, int round) {
  constexpr int kCount = 100;
  const int n = job.ranks;
  const int root = round % n;
  const int mine = job.rank;
  const auto own = [&](int i) { return mine * 1000 + i; };
  const auto of = [](int rank) { return [rank](int i) { return rank * 1000 + i; }; };
  const auto sum = [&](int i) { return n * (n - 1) / 2 * 1000 + n * i; };
  const auto blocks = [&](int i) { return i / kCount * 1000 + i % kCount; };
  const auto old = [](int) { return -1; };
  const Ints small(kCount, own);
  const Ints large(kCount * n, own);
  const Ints one(kCount, old);
  const Ints all(kCount * n, old);

  NCCL(ncclAllReduce(small.data, one.data, kCount, ncclInt, ncclSum, job.comm, job.stream));
  one.expect(job, sum);
  NCCL(ncclReduceScatter(large.data, one.data, kCount, ncclInt, ncclMax, job.comm, job.stream));
  one.expect(job, [&](int i) { return (n - 1) * 1000 + mine * kCount + i; });
  NCCL(ncclBroadcast(small.data, one.data, kCount, ncclInt, root, job.comm, job.stream));
  one.expect(job, of(root));
  NCCL(ncclReduce(small.data, one.data, kCount, ncclInt, ncclSum, root, job.comm, job.stream));
  one.expect(job, mine == root ? std::function<int(int)>(sum) : of(root));
  NCCL(ncclAllGather(small.data, all.data, kCount, ncclInt, job.comm, job.stream));
  all.expect(job, blocks);
  NCCL(ncclAlltoAll(large.data, all.data, kCount, ncclInt, job.comm, job.stream));
  all.expect(job, [&](int i) { return i / kCount * 1000 + mine * kCount + i % kCount; });
  NCCL(ncclScatter(large.data, one.data, kCount, ncclInt, root, job.comm, job.stream));
  one.expect(job, [&](int i) { return root * 1000 + mine * kCount + i; });
  const Ints gathered(kCount * n, old);
  NCCL(ncclGather(small.data, gathered.data, kCount, ncclInt, root, job.comm, job.stream));
  gathered.expect(job, mine == root ? std::function<int(int)>(blocks) : old);
  NCCL(ncclGroupStart());
  NCCL(ncclSend(small.data, kCount, ncclInt, (mine + 1) % n, job.comm, job.stream));
  NCCL(ncclRecv(one.data, kCount, ncclInt, (mine + n - 1) % n, job.comm, job.stream));
  NCCL(ncclGroupEnd());
  one.expect(job, of((mine + n - 1) % n));
}

void collectives(int rounds) {
  const Job job;
  for (int round = 0; round < rounds; ++round) every_collective(job, round);
  std::printf("rank %d: %d rounds are right\n", job.rank, rounds);
}

// The victim ends in the middle of the job, without a word.
void killed(int victim) {
  const Job job;
  every_collective(job, 0);
  if (job.rank == victim) ::raise(SIGKILL);
  const Ints data(1000, [](int i) { return i; });
  NCCL(ncclAllReduce(data.data, data.data, 1000, ncclInt, ncclSum, job.comm, job.stream));
  CUDA(cudaStreamSynchronize(job.stream));
}

// All are on device 0 unless they may not see that of others.
void same_device(int) {
  ncclComm_t comm = nullptr;
  const ncclResult_t result =
      ncclCommInitRank(&comm, number("WORLD_SIZE"), meeting(), number("RANK"));
  if (result == ncclSuccess) {
    NCCL(ncclCommDestroy(comm));
  }
  CHECK(result == ncclSuccess || comm == nullptr);
  std::printf("%s | %s\n", ncclGetErrorString(result),
              result == ncclSuccess ? "" : ncclGetLastError(nullptr));
}

// Rank 0 shows its memory to the others, which write their block.
void shared_memory(int) {
  const Job job;
  constexpr int kCount = 5000;
  const Ints mine(kCount * job.ranks, [](int) { return -1; });
  cudaIpcMemHandle_t handle;
  memset(&handle, 0, sizeof(handle));
  if (job.rank == 0) CUDA(cudaIpcGetMemHandle(&handle, mine.data));
  void* bytes = nullptr;
  CUDA(cudaMalloc(&bytes, sizeof(handle)));
  CUDA(cudaMemcpy(bytes, &handle, sizeof(handle), cudaMemcpyHostToDevice));
  NCCL(ncclBroadcast(bytes, bytes, sizeof(handle), ncclChar, 0, job.comm, job.stream));
  CUDA(cudaStreamSynchronize(job.stream));
  CUDA(cudaMemcpy(&handle, bytes, sizeof(handle), cudaMemcpyDeviceToHost));

  void* theirs = mine.data;
  if (job.rank != 0) {
    CUDA(cudaIpcOpenMemHandle(&theirs, handle, cudaIpcMemLazyEnablePeerAccess));
    cudaPointerAttributes attributes;
    CUDA(cudaPointerGetAttributes(&attributes, theirs));
    CHECK(attributes.type == cudaMemoryTypeDevice && attributes.device == job.rank);
  } else {
    CHECK(cudaIpcOpenMemHandle(&theirs, handle, cudaIpcMemLazyEnablePeerAccess) ==
          cudaErrorInvalidResourceHandle);
    CHECK(cudaIpcCloseMemHandle(mine.data) == cudaErrorInvalidValue);
    CHECK(cudaIpcGetMemHandle(nullptr, mine.data) == cudaErrorInvalidValue);
  }
  const Ints block(kCount, [&](int i) { return job.rank * 10000 + i; });
  int* const place = static_cast<int*>(theirs) + job.rank * kCount;
  CUDA(cudaMemcpyAsync(place, block.data, kCount * sizeof(int), cudaMemcpyDeviceToDevice,
                       job.stream));
  // All are done when this is; collectives take such memory, too.
  const Ints sum(kCount, [](int) { return 0; });
  NCCL(ncclAllReduce(place, sum.data, kCount, ncclInt, ncclMax, job.comm, job.stream));
  sum.expect(job, [&](int i) { return (job.ranks - 1) * 10000 + i; });
  if (job.rank == 0) {
    mine.expect(job, [](int i) { return i / kCount * 10000 + i % kCount; });
  } else {
    CUDA(cudaIpcCloseMemHandle(theirs));
  }
  CUDA(cudaFree(bytes));
  // Rank 0 frees its memory when the others have closed it.
  NCCL(ncclAllReduce(sum.data, sum.data, 1, ncclInt, ncclSum, job.comm, job.stream));
  CUDA(cudaStreamSynchronize(job.stream));
  std::printf("rank %d: the memory is one\n", job.rank);
}

// What has become of the communicator, which is given up.
void tell_error(ncclComm_t comm) {
  ncclResult_t error = ncclSuccess;
  NCCL(ncclCommGetAsyncError(comm, &error));
  std::printf("%s | %s\n", ncclGetErrorString(error), ncclGetLastError(nullptr));
  NCCL(ncclCommAbort(comm));
}

// Each rank receives from the next before it sends to the one before it.
void circle(int) {
  const int rank = number("RANK");
  const int ranks = number("WORLD_SIZE");
  CUDA(cudaSetDevice(number("LOCAL_RANK")));
  ncclComm_t comm = nullptr;
  NCCL(ncclCommInitRank(&comm, ranks, meeting(), rank));
  const Ints data(10, [](int i) { return i; });
  NCCL(ncclRecv(data.data, 10, ncclInt, (rank + 1) % ranks, comm, nullptr));
  // The circle is closed by the receives alone, and may be known by now.
  const ncclResult_t sent =
      ncclSend(data.data, 10, ncclInt, (rank + ranks - 1) % ranks, comm, nullptr);
  CHECK(sent == ncclSuccess || sent == ncclInvalidUsage);
  // An error of a stream is told once: by that call, or by this one.
  const cudaError_t waited = cudaStreamSynchronize(nullptr);
  CHECK(sent == ncclInvalidUsage || waited != cudaSuccess);
  tell_error(comm);
}

// Rank 0 sends floats where rank 1 expects as many ints; neither is of use to the other.
void mistyped(int) {
  const int rank = number("RANK");
  CUDA(cudaSetDevice(number("LOCAL_RANK")));
  ncclComm_t comm = nullptr;
  NCCL(ncclCommInitRank(&comm, number("WORLD_SIZE"), meeting(), rank));
  const Ints data(10, [](int i) { return i; });
  if (rank == 0) {
    NCCL(ncclSend(data.data, 10, ncclFloat, 1, comm, nullptr));
  } else {
    NCCL(ncclRecv(data.data, 10, ncclInt, 0, comm, nullptr));
  }
  (void)cudaStreamSynchronize(nullptr);  // a short message may be on its way
  const ncclResult_t next = ncclAllReduce(data.data, data.data, 1, ncclInt, ncclSum, comm, nullptr);
  CHECK(next != ncclSuccess || cudaStreamSynchronize(nullptr) != cudaSuccess);
  tell_error(comm);
}

// One thread has two ranks and waits for one of them before it calls for the other.
void one_thread(int) {
  std::vector<ncclComm_t> comms(2);
  NCCL(ncclCommInitAll(comms.data(), 2, nullptr));
  const Ints data(10, [](int i) { return i; });
  NCCL(ncclAllReduce(data.data, data.data, 10, ncclInt, ncclSum, comms[0], nullptr));
  CHECK(cudaStreamSynchronize(nullptr) != cudaSuccess);
  tell_error(comms[0]);
  NCCL(ncclCommAbort(comms[1]));
}

}  // namespace

int main(int argc, char** argv) {
  const std::map<std::string, std::function<void(int)>> jobs{{"circle", circle},
                                                             {"collectives", collectives},
                                                             {"killed", killed},
                                                             {"mistyped", mistyped},
                                                             {"one_thread", one_thread},
                                                             {"same_device", same_device},
                                                             {"shared_memory", shared_memory}};
  if (argc < 2 || !jobs.contains(argv[1])) return 2;
  jobs.at(argv[1])(argc > 2 ? std::atoi(argv[2]) : 0);
  return 0;
}
