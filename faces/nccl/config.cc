// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "faces/nccl/config.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "faces/nccl/translate.h"

namespace commrig::nccl {
namespace {

static_assert(sizeof(ncclConfig_t) == 80, "the layout of release 2.28");

// The struct has grown at its end; its first form ended behind `blocking`.
constexpr std::size_t kBytesMin = offsetof(ncclConfig_t, cgaClusterSize);

// A number, what it may be where it is set, and the release that has it first.
struct Field {
  const char* name;
  int ncclConfig_t::* member;
  int min;
  int max;
  unsigned since;
};
constexpr std::array kFields{
    Field{"blocking", &ncclConfig_t::blocking, 0, 1, NCCL_VERSION(2, 14, 0)},
    Field{"cgaClusterSize", &ncclConfig_t::cgaClusterSize, 0, 8, NCCL_VERSION(2, 17, 0)},
    Field{"minCTAs", &ncclConfig_t::minCTAs, 1, INT_MAX, NCCL_VERSION(2, 17, 0)},
    Field{"maxCTAs", &ncclConfig_t::maxCTAs, 1, INT_MAX, NCCL_VERSION(2, 17, 0)},
    Field{"splitShare", &ncclConfig_t::splitShare, 0, 1, NCCL_VERSION(2, 18, 0)},
    Field{"trafficClass", &ncclConfig_t::trafficClass, 0, INT_MAX, NCCL_VERSION(2, 25, 0)},
    Field{"collnetEnable", &ncclConfig_t::collnetEnable, 0, 1, NCCL_VERSION(2, 27, 0)},
    Field{"CTAPolicy", &ncclConfig_t::CTAPolicy, 0,
          NCCL_CTA_POLICY_EFFICIENCY | NCCL_CTA_POLICY_ZERO, NCCL_VERSION(2, 27, 0)},
    Field{"shrinkShare", &ncclConfig_t::shrinkShare, 0, 1, NCCL_VERSION(2, 27, 0)},
    Field{"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 1, INT_MAX, NCCL_VERSION(2, 27, 0)},
    Field{"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, 1, INT_MAX,
          NCCL_VERSION(2, 28, 0)},
    Field{"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, 0, 1, NCCL_VERSION(2, 28, 0)},
};

bool is_set(int value) {
  return value != NCCL_CONFIG_UNDEF_INT;
}

ncclResult_t check(const ncclConfig_t& config) {
  for (const Field& field : kFields) {
    const int value = config.*field.member;
    if (!is_set(value) || (value >= field.min && value <= field.max)) continue;
    return refuse(ncclInvalidArgument,
                  std::string("ncclConfig_t: attribute ") + field.name + " is " +
                      std::to_string(value) + "; expected " + std::to_string(field.min) + " to " +
                      std::to_string(field.max) + ", or NCCL_CONFIG_UNDEF_INT");
  }
  if (is_set(config.minCTAs) && is_set(config.maxCTAs) && config.minCTAs > config.maxCTAs) {
    return refuse(ncclInvalidArgument, "ncclConfig_t: attribute minCTAs is above maxCTAs");
  }
  return ncclSuccess;
}

// What an older program's struct doesn't have stays unset, whatever lies behind its end.
ncclConfig_t known_part(const ncclConfig_t& given) {
  ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
  std::memcpy(&known, &given, std::min(given.size, sizeof(known)));
  for (const Field& field : kFields) {
    if (field.since > given.version) known.*field.member = NCCL_CONFIG_UNDEF_INT;
  }
  return known;
}

void read_environment(Config& config) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): only read
  const char* const text = std::getenv("NCCL_COMM_BLOCKING");
  if (text == nullptr) return;
  if (std::string_view(text) == "0") config.blocking = false;
  if (std::string_view(text) == "1") config.blocking = true;
}

}  // namespace

ncclResult_t read_config(const ncclConfig_t* given, const Config& inherited, Config& config) {
  config = given == nullptr ? inherited : Config();
  if (given != nullptr) {
    if (given->magic != NCCL_API_MAGIC || given->size < kBytesMin) {
      return refuse(ncclInvalidArgument,
                    "ncclConfig_t: not initialised; set it with NCCL_CONFIG_INITIALIZER first");
    }
    const ncclConfig_t known = known_part(*given);
    COMMRIG_NCCL_TRY(check(known));
    if (is_set(known.blocking)) config.blocking = known.blocking != 0;
  }
  read_environment(config);
  return ncclSuccess;
}

bool ranks_may_share_devices() {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): only read
  const char* const text = std::getenv("NCCL_MULTI_RANK_GPU_ENABLE");
  return text != nullptr && std::string_view(text) == "1";
}

}  // namespace commrig::nccl
