// Tensor's methods about its data: shape, dtype, host access, indexing, and the state that
// autodiff keeps with it. Methods that read data on the host first wait for pending work.
#pragma once

#include <functional>
#include <initializer_list>
#include <optional>
#include <type_traits>

#include "groove/accessor.h"
#include "groove/detail/args.h"
#include "groove/methods/index.h"

namespace groove {

struct TensorIndex;  // groove/indexing.h
struct TapeNode;

/// A reference to an undefined tensor: the default of optional tensor arguments.
const Tensor& undefined_tensor();

class DataMethods : public IndexMethods {
 public:
  using IndexMethods::IndexMethods;

  // ---- shape and type ----
  IntArrayRef sizes() const;
  IntArrayRef strides() const;
  /// Negative dims count from the end; throws groove::Error when out of range.
  std::int64_t size(std::int64_t dim) const;
  std::int64_t stride(std::int64_t dim) const;
  std::int64_t dim() const { return static_cast<std::int64_t>(sizes().size()); }
  std::int64_t ndimension() const { return dim(); }
  std::int64_t numel() const;
  /// numel() * element_size(), which for a view is not the storage's size.
  std::size_t nbytes() const;
  std::int64_t element_size() const;
  std::int64_t itemsize() const { return element_size(); }
  ScalarType scalar_type() const;
  ScalarType dtype() const { return scalar_type(); }
  Device device() const;
  Layout layout() const { return kStrided; }
  std::int64_t get_device() const { return device().is_cpu() ? -1 : device().index(); }
  TensorOptions options() const;
  std::int64_t storage_offset() const;
  bool is_contiguous() const;
  bool is_floating_point() const { return is_floating(scalar_type()); }
  bool is_complex() const { return false; }
  bool is_sparse() const { return false; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  /// Do the two share a storage?
  bool is_alias_of(const Tensor& other) const;

  // ---- host access ----
  /// The single element; throws groove::Error unless numel() is 1.
  Scalar item() const;
  template <typename T>
  T item() const {
    return item().to<T>();
  }
  /// Address of the first element. From now on Groove assumes that foreign code reads and writes
  /// this memory at any time. Throws groove::Error when T is not the dtype.
  template <typename T>
  T* data_ptr() const {
    return static_cast<T*>(checked_data_ptr(dtype_of<std::remove_const_t<T>>, false));
  }
  void* data_ptr() const { return checked_data_ptr(ScalarType::Undefined, false); }
  template <typename T>
  T* mutable_data_ptr() const {
    return data_ptr<T>();
  }
  void* mutable_data_ptr() const { return data_ptr(); }
  /// Only for reading, at once: does not expose the memory.
  template <typename T>
  const T* const_data_ptr() const {
    return static_cast<const T*>(checked_data_ptr(dtype_of<std::remove_const_t<T>>, true));
  }
  const void* const_data_ptr() const { return checked_data_ptr(ScalarType::Undefined, true); }
  template <typename T>
  T* data() const {
    return data_ptr<T>();
  }
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor() const& {
    check_accessor(static_cast<std::int64_t>(N));
    return TensorAccessor<T, N>(data_ptr<T>(), sizes().data(), strides().data());
  }
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor() && = delete;  // the tensor would be gone

  // ---- indexing (groove/indexing.h) ----
  Tensor operator[](detail::SubscriptArg index) const;
  Tensor index(std::initializer_list<TensorIndex> indices, Site site = Site::current()) const;
  Tensor index(ArrayRef<TensorIndex> indices, Site site = Site::current()) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value,
                     Site site = Site::current()) const;
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Tensor& value,
                     Site site = Site::current()) const;
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Scalar& value,
                     Site site = Site::current()) const;
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Scalar& value,
                     Site site = Site::current()) const;

  // ---- autograd (defined in autodiff/) ----
  /// Counts in-place writes to the storage through any alias.
  std::int64_t _version() const;
  bool requires_grad() const;
  const Tensor& requires_grad_(bool value = true, Site site = Site::current()) const;
  const Tensor& set_requires_grad(bool value, Site site = Site::current()) const;
  bool is_leaf() const;
  const Tensor& grad() const;
  Tensor& mutable_grad() const;
  /// The node that made this tensor; null for a leaf.
  const TapeNode* grad_fn() const;
  void retain_grad() const;
  bool retains_grad() const;
  std::int64_t output_nr() const;
  Tensor detach(Site site = Site::current()) const;
  Tensor& detach_(Site site = Site::current()) const;
  /// The values without history, sharing memory and not counted as versions (LibTorch's spelling).
  Tensor data() const;
  Tensor tensor_data() const;
  Tensor variable_data() const;
  void set_data(const Tensor& value, Site site = Site::current()) const;
  void backward(const Tensor& gradient = undefined_tensor(),
                std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                Site site = Site::current()) const;
  /// Called with the gradient when it is computed; a returned tensor replaces it.
  template <typename Hook>
  unsigned register_hook(Hook hook) const {
    using Result = std::invoke_result_t<Hook, Tensor>;
    if constexpr (std::is_void_v<Result>) {
      return add_gradient_hook([hook](const Tensor& grad) mutable {
        hook(grad);
        return undefined_tensor();
      });
    } else {
      return add_gradient_hook([hook](const Tensor& grad) mutable { return hook(grad); });
    }
  }
  void remove_hook(unsigned position) const;

  DataMethods& operator=(const DataMethods&) = default;
  DataMethods& operator=(DataMethods&&) noexcept = default;
  DataMethods(const DataMethods&) = default;
  DataMethods(DataMethods&&) noexcept = default;
  DataMethods() = default;

 private:
  void* checked_data_ptr(ScalarType expected, bool is_const) const;
  void check_accessor(std::int64_t dims) const;
  unsigned add_gradient_hook(std::function<Tensor(const Tensor&)> hook) const;
};

}  // namespace groove
