// What LibTorch programs say about the GPU besides torch::cuda. There is no GPU backend yet: what
// asks or tidies up answers as LibTorch does on a machine without a GPU, what needs one throws.
#pragma once

#include <cstddef>
#include <cstdint>

#include "groove/compat/names.h"
#include "groove/error.h"

#if !defined(__DRIVER_TYPES_H__) && !defined(__CUDA_RUNTIME_H__)
using cudaStream_t = struct CUstream_st*;
#endif

namespace groove::compat {
[[noreturn]] inline void throw_no_gpu(const char* name) {
  throw Error(std::string(name) +
              ": Groove has no GPU backend yet; ask torch::cuda::is_available() first, and run on "
              "the CPU");
}
}  // namespace groove::compat

namespace c10::cuda {

using DeviceIndex = std::int8_t;
using StreamId = std::int64_t;

class CUDAStream {
 public:
  CUDAStream() { groove::compat::throw_no_gpu("CUDAStream"); }
  cudaStream_t stream() const { return nullptr; }
  operator cudaStream_t() const { return nullptr; }
  Device device() const { return Device(kCUDA, 0); }
  DeviceIndex device_index() const { return 0; }
  StreamId id() const { return 0; }
  void synchronize() const {}
  bool query() const { return true; }
};
inline CUDAStream getCurrentCUDAStream(DeviceIndex = -1) { return {}; }
inline CUDAStream getDefaultCUDAStream(DeviceIndex = -1) { return {}; }
inline CUDAStream getStreamFromPool(bool = false, DeviceIndex = -1) { return {}; }
inline CUDAStream getStreamFromPool(int, DeviceIndex = -1) { return {}; }
inline void setCurrentCUDAStream(CUDAStream) {}
inline DeviceIndex device_count() noexcept { return 0; }
inline DeviceIndex current_device() { groove::compat::throw_no_gpu("current_device"); }
inline void set_device(DeviceIndex) { groove::compat::throw_no_gpu("set_device"); }
inline void device_synchronize() {}
inline void stream_synchronize(cudaStream_t) {}

/// Guards of another device throw; of the CPU they do nothing.
class CUDAGuard {
 public:
  explicit CUDAGuard(DeviceIndex) { groove::compat::throw_no_gpu("CUDAGuard"); }
  explicit CUDAGuard(Device device) {
    if (device.is_cuda()) groove::compat::throw_no_gpu("CUDAGuard");
  }
  void set_device(Device) {}
  void set_index(DeviceIndex) {}
};
class OptionalCUDAGuard {
 public:
  OptionalCUDAGuard() = default;
  explicit OptionalCUDAGuard(std::optional<Device> device) {
    if (device && device->is_cuda()) groove::compat::throw_no_gpu("OptionalCUDAGuard");
  }
  explicit OptionalCUDAGuard(std::optional<DeviceIndex> index) {
    if (index) groove::compat::throw_no_gpu("OptionalCUDAGuard");
  }
  void set_device(Device) {}
  void set_index(DeviceIndex) {}
  void reset() {}
};
class CUDAStreamGuard {
 public:
  explicit CUDAStreamGuard(CUDAStream) {}
  CUDAStream original_stream() const { return {}; }
  CUDAStream current_stream() const { return {}; }
};

namespace CUDACachingAllocator {
inline void emptyCache() {}
inline void resetPeakStats(int) {}
inline void resetAccumulatedStats(int) {}
}  // namespace CUDACachingAllocator

}  // namespace c10::cuda

namespace c10 {
namespace CUDACachingAllocator = cuda::CUDACachingAllocator;
}

namespace at::cuda {
using namespace c10::cuda;

/// The fields of CUDA's record that programs print; there is never one to fill.
struct cudaDeviceProp {
  char name[256] = {};
  std::size_t totalGlobalMem = 0;
  int major = 0, minor = 0, multiProcessorCount = 0, maxThreadsPerBlock = 0;
};
inline cudaDeviceProp* getDeviceProperties(std::int64_t) {
  groove::compat::throw_no_gpu("getDeviceProperties");
}
inline cudaDeviceProp* getCurrentDeviceProperties() {
  groove::compat::throw_no_gpu("getCurrentDeviceProperties");
}
inline int warp_size() { return 32; }

class CUDAGraph {
 public:
  CUDAGraph() { groove::compat::throw_no_gpu("CUDAGraph"); }
  void capture_begin() {}
  void capture_end() {}
  void replay() {}
  void reset() {}
};
class CUDAEvent {
 public:
  CUDAEvent() { groove::compat::throw_no_gpu("CUDAEvent"); }
  void record() {}
  void record(const CUDAStream&) {}
  void synchronize() const {}
  float elapsed_time(const CUDAEvent&) const { return 0; }
};
}  // namespace at::cuda
