// The memory that tensors share, as programs of LibTorch ask for it.
#pragma once

#include <cstddef>

#include "groove/tensor.h"

namespace groove {

/// The address of a storage, and what frees it: null for memory that the program lent.
class DataPtr {
 public:
  DataPtr() = default;
  DataPtr(void* data, void* context, Device device)
      : data_(data), context_(context), device_(device) {}
  void* get() const { return data_; }
  void* get_context() const { return context_; }
  Device device() const { return device_; }
  operator bool() const { return data_ != nullptr; }

 private:
  void* data_ = nullptr;
  void* context_ = nullptr;
  Device device_;
};

/// What a tensor and its views share. Holds the memory while it lives; data() hands its address out
/// as Tensor::data_ptr() does, so that Groove assumes from then on that it is read and written at
/// any time.
class UntypedStorage {
 public:
  UntypedStorage() = default;
  explicit UntypedStorage(const Tensor& tensor) : tensor_(tensor) {}
  void* data(Site site = Site::current()) const;
  void* mutable_data(Site site = Site::current()) const { return data(site); }
  DataPtr data_ptr(Site site = Site::current()) const;
  std::size_t nbytes(Site site = Site::current()) const;
  Device device() const { return Device(); }
  DeviceType device_type() const { return kCPU; }
  /// Whether resize_() of a tensor may make it larger: not of memory that the program lent.
  bool resizable(Site site = Site::current()) const { return data_ptr(site).get_context(); }
  /// The same address for all that share it; nothing may be read there.
  const void* unsafeGetStorageImpl() const;
  bool is_alias_of(const UntypedStorage& other) const { return tensor_.is_alias_of(other.tensor_); }
  operator bool() const { return tensor_.defined(); }

 private:
  friend class DataMethods;
  Tensor tensor_;
};

}  // namespace groove
