// Memory shared with other libraries by DLPack: NumPy, PyTorch, JAX, CuPy, TVM and others speak it.
// Not included by groove/groove.h. The structures are DLPack's own: where a program includes
// DLPack's header, too, the first one counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "groove/tensor.h"

#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_

#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL)

extern "C" {

typedef struct {
  uint32_t major, minor;
} DLPackVersion;

typedef enum : int32_t {
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLVulkan = 7,
  kDLMetal = 8,
  kDLVPI = 9,
  kDLROCM = 10,
  kDLROCMHost = 11,
  kDLExtDev = 12,
  kDLCUDAManaged = 13,
  kDLOneAPI = 14,
  kDLWebGPU = 15,
  kDLHexagon = 16,
  kDLMAIA = 17,
} DLDeviceType;

typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;

typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLOpaqueHandle = 3U,
  kDLBfloat = 4U,
  kDLComplex = 5U,
  kDLBool = 6U,
} DLDataTypeCode;

typedef struct {
  uint8_t code, bits;
  uint16_t lanes;
} DLDataType;

typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null for row-major
  uint64_t byte_offset;
} DLTensor;

typedef struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensor* self);
} DLManagedTensor;

typedef struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(struct DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
} DLManagedTensorVersioned;

}  // extern "C"

#endif  // DLPACK_DLPACK_H_

struct DLManagedTensorVersioned;  // older headers have not

namespace groove {

/// The tensor's memory for others: shape and strides as they are, nothing copied. It lives until
/// the receiver calls the deleter, on any thread, unless resize_() needs more meanwhile. As with
/// data_ptr(), Groove assumes from now on that others read and write it at any time; gradients do
/// not cross. Throws groove::Error for an undefined tensor.
DLManagedTensor* to_dlpack(const Tensor& tensor, Site site = Site::current());
/// The same as DLPack 1.0 has it.
DLManagedTensorVersioned* to_dlpack_versioned(const Tensor& tensor, Site site = Site::current());

/// A tensor over the memory of another library, which is given back by the structure's deleter, or
/// the one given here, with the last tensor that has it. Throws groove::Error, and leaves the
/// structure to the caller, when the memory is not the CPU's, is not aligned to its elements, may
/// only be read, has negative strides or a dtype that is none of Groove's, and when the structure
/// contradicts itself.
Tensor from_dlpack(DLManagedTensor* managed, std::function<void(void*)> deleter = {},
                   Site site = Site::current());
Tensor from_dlpack(DLManagedTensorVersioned* managed, std::function<void(void*)> deleter = {},
                   Site site = Site::current());

}  // namespace groove
