// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: The commrig authors
#include "rig/stream.h"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "rig/handles.h"
#include "rig/runtime.h"

namespace commrig::rig {
namespace {

using StreamPtr = std::shared_ptr<Stream>;  // shared by the table and the calls that use it

struct DeviceStreams {
  StreamPtr standard;  // the default one, made when it is first used
  std::vector<std::weak_ptr<Stream>> others;
};

struct Tables {
  Handles<Stream> handles{3};
  Guarded<std::map<int, DeviceStreams>> devices;
  Guarded<std::vector<StreamPtr>> retired;  // destroyed with work on them
};

Tables& tables() {
  // Calls may come from destructors at the end of the process.
  static auto* const kTables = new Tables;  // tidy: allow(new) lives until the process ends
  return *kTables;
}

Result<StreamPtr> make_stream(int device, const StreamOptions& options) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  COMMRIG_ASSIGN(std::unique_ptr<device::Stream> made, found->machine().create_stream(device));
  return std::make_shared<Stream>(std::move(made), device, options);
}

void add_to_device(const StreamPtr& stream) {
  const auto devices = tables().devices.lock();
  auto& others = (*devices)[stream->device].others;
  std::erase_if(others, [](const auto& other) { return other.expired(); });
  others.push_back(stream);
}

Result<StreamPtr> default_stream(int device) {
  {
    const auto devices = tables().devices.lock();
    if (const StreamPtr& found = (*devices)[device].standard) return found;
  }
  COMMRIG_ASSIGN(StreamPtr made, make_stream(device, {}));
  const auto devices = tables().devices.lock();
  StreamPtr& place = (*devices)[device].standard;
  if (place == nullptr) place = std::move(made);
  return place;
}

Result<StreamPtr> thread_stream(int device) {
  thread_local std::map<int, StreamPtr> streams;
  StreamPtr& found = streams[device];
  if (found == nullptr) {
    COMMRIG_ASSIGN(found, make_stream(device, {}));
    add_to_device(found);
  }
  return found;
}

// Between the default stream and the others of its device.
Status put_in_order(const StreamPtr& stream) {
  StreamPtr standard;
  std::vector<StreamPtr> others;
  {
    const auto devices = tables().devices.lock();
    DeviceStreams& all = (*devices)[stream->device];
    standard = all.standard;
    if (stream == standard) {
      for (const auto& each : all.others) {
        StreamPtr other = each.lock();
        if (other != nullptr && other->options.waits_for_default) {
          others.push_back(std::move(other));
        }
      }
    }
  }
  for (const StreamPtr& other : others) {
    const std::uint64_t issued = other->issued.load();
    if (other->seen_by_default.exchange(issued) == issued) continue;
    COMMRIG_TRY(put_after(*stream->get(), *other->get()));
  }
  if (standard == nullptr || stream == standard || !stream->options.waits_for_default) return ok();
  const std::uint64_t issued = standard->issued.load();
  if (stream->seen_of_default.exchange(issued) == issued) return ok();
  return put_after(*stream->get(), *standard->get());
}

void sweep_retired() {
  std::vector<StreamPtr> idle;
  const auto retired = tables().retired.lock();
  for (StreamPtr& each : *retired) {
    if (each->get()->idle()) idle.push_back(std::move(each));
  }
  std::erase(*retired, nullptr);
}

// An error is told once, but for that of an abort, which whoever aborted knows. Then the stream is
// used again, with nothing of what was behind the error.
Status recover(Stream& stream, const std::shared_ptr<device::Stream>& failed, Status status) {
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  COMMRIG_ASSIGN(std::unique_ptr<device::Stream> fresh,
                 found->machine().create_stream(stream.device));
  {
    const auto current = stream.current.lock();
    if (*current != failed) return ok();
    *current = std::move(fresh);
  }
  return code_info(status.error().code).kind == Kind::kAborted ? ok() : std::move(status);
}

Status synchronize(Stream& stream) {
  const std::shared_ptr<device::Stream> waited_for = stream.get();
  Status status = waited_for->machine().synchronize(*waited_for);
  return status ? std::move(status) : recover(stream, waited_for, std::move(status));
}

}  // namespace

Status put_after(device::Stream& after, device::Stream& before) {
  if (before.idle()) return ok();
  device::Event event;
  if (!event.record(before)) return ok();
  return event.make_wait(after);
}

Result<std::shared_ptr<Stream>> find_stream(void* handle, int device) {
  if (handle == kDefaultStream || handle == kLegacyStream) return default_stream(device);
  if (handle == kPerThreadStream) return thread_stream(device);
  if (StreamPtr found = tables().handles.find(handle)) return found;
  return Error::make(Code::kNoSuchHandle,
                     fmt::format("{} is no stream{}", handle,
                                 tables().handles.was_given(handle) ? " any more" : ""));
}

Result<std::shared_ptr<device::Stream>> stream_for_work(void* handle, int device) {
  COMMRIG_ASSIGN(const StreamPtr stream, find_stream(handle, device));
  COMMRIG_TRY(put_in_order(stream));
  stream->issued.fetch_add(1);
  const std::shared_ptr<device::Stream> found = stream->get();
  if (Status status = found->status(); !status) {
    COMMRIG_TRY(recover(*stream, found, std::move(status)));
  }
  return stream->get();
}

Result<void*> create_stream(int device, const StreamOptions& options) {
  sweep_retired();
  COMMRIG_ASSIGN(StreamPtr made, make_stream(device, options));
  add_to_device(made);
  return tables().handles.add(std::move(made));
}

Status destroy_stream(void* handle) {
  StreamPtr stream = tables().handles.remove(handle);
  if (stream == nullptr) {
    return Error::make(Code::kNoSuchHandle,
                       fmt::format("{} is no stream that could be destroyed", handle));
  }
  if (!stream->get()->idle()) tables().retired.lock()->push_back(std::move(stream));
  return ok();
}

Status synchronize_stream(void* handle, int device) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(const StreamPtr stream, find_stream(handle, device));
  COMMRIG_TRY(put_in_order(stream));
  return synchronize(*stream);
}

Result<bool> query_stream(void* handle, int device) {
  COMMRIG_ASSIGN(const StreamPtr stream, find_stream(handle, device));
  COMMRIG_TRY(put_in_order(stream));
  const std::shared_ptr<device::Stream> asked = stream->get();
  if (Status status = asked->status(); !status) {
    COMMRIG_TRY(recover(*stream, asked, std::move(status)));
    return true;
  }
  return asked->idle();
}

Status synchronize_device(int device) {
  COMMRIG_TRY(check_not_in_callback());
  COMMRIG_ASSIGN(Runtime* const found, runtime());
  if (device < 0 || device >= found->machine().devices()) {
    return Error::make(Code::kBadDevice,
                       fmt::format("device {} of {} devices", device, found->machine().devices()));
  }
  std::vector<StreamPtr> streams;
  {
    const auto devices = tables().devices.lock();
    DeviceStreams& all = (*devices)[device];
    if (all.standard != nullptr) streams.push_back(all.standard);
    for (const auto& each : all.others) {
      if (StreamPtr other = each.lock()) streams.push_back(std::move(other));
    }
  }
  Status status = ok();
  for (const StreamPtr& stream : streams) {
    Status one = synchronize(*stream);
    if (!one && status) status = std::move(one);
  }
  return status;
}

Result<StreamInfo> stream_info(void* handle, int device) {
  COMMRIG_ASSIGN(const StreamPtr stream, find_stream(handle, device));
  return StreamInfo{stream->device, stream->options, stream->get()->number()};
}

Status call_on_stream(void* handle, int device, std::function<Status()> function) {
  COMMRIG_ASSIGN(const std::shared_ptr<device::Stream> stream, stream_for_work(handle, device));
  return device::call(*stream, [function = std::move(function)] {
    const CallbackScope scope;
    return function();
  });
}

}  // namespace commrig::rig
