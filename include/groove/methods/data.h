// Tensor's methods about its data: shape, dtype, host access, indexing, and the state that
// autodiff keeps with it. Methods that read data on the host first wait for pending work.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>

#include "groove/accessor.h"
#include "groove/complex.h"
#include "groove/detail/args.h"
#include "groove/methods/statistics.h"

namespace groove {

struct TensorIndex;              // groove/indexing.h
class DeprecatedTypeProperties;  // groove/types.h
class UntypedStorage;            // groove/storage.h
namespace autograd {
class Node;  // groove/autograd.h
}

/// A reference to an undefined tensor: the default of optional tensor arguments.
const Tensor& undefined_tensor();

class DataMethods : public StatisticsMethods {
 public:
  using StatisticsMethods::StatisticsMethods;

  // ---- shape and type ----
  IntArrayRef sizes(Site site = Site::current()) const;
  IntArrayRef strides(Site site = Site::current()) const;
  /// Negative dims count from the end; throws groove::Error when out of range.
  std::int64_t size(std::int64_t dim, Site site = Site::current()) const;
  std::int64_t stride(std::int64_t dim, Site site = Site::current()) const;
  std::int64_t dim(Site site = Site::current()) const {
    return static_cast<std::int64_t>(sizes(site).size());
  }
  std::int64_t ndimension(Site site = Site::current()) const { return dim(site); }
  std::int64_t numel() const;
  /// numel() * element_size(), which for a view is not the storage's size.
  std::size_t nbytes() const;
  std::int64_t element_size() const;
  std::int64_t itemsize() const { return element_size(); }
  ScalarType scalar_type(Site site = Site::current()) const;
  TypeMeta dtype(Site site = Site::current()) const { return TypeMeta(scalar_type(site)); }
  Device device(Site site = Site::current()) const;
  Layout layout() const { return kStrided; }
  std::int64_t get_device() const { return device().is_cpu() ? -1 : device().index(); }
  TensorOptions options(Site site = Site::current()) const;
  std::int64_t storage_offset(Site site = Site::current()) const;
  bool is_contiguous() const;
  bool is_contiguous(MemoryFormat format) const;
  bool is_floating_point() const { return is_floating(scalar_type()); }
  bool is_complex() const { return groove::is_complex(scalar_type()); }
  bool is_conj() const { return false; }
  bool is_neg() const { return false; }
  bool is_sparse() const { return false; }
  bool is_cpu() const { return device().is_cpu(); }
  bool is_cuda() const { return device().is_cuda(); }
  bool is_mps() const { return false; }
  bool is_signed() const { return scalar_type() != kByte && scalar_type() != kBool; }
  bool is_pinned() const { return false; }
  bool has_storage() const { return defined(); }
  /// Throws groove::Error: there is no device that copies from pinned memory.
  Tensor pin_memory(Site site = Site::current()) const;
  bool is_meta() const { return false; }
  bool is_quantized() const { return false; }
  MemoryFormat suggest_memory_format() const { return MemoryFormat::Contiguous; }
  bool is_same_size(const Tensor& other) const;
  /// The truth of the only element.
  bool is_nonzero(Site site = Site::current()) const;
  /// "CPUFloatType"
  std::string toString() const;
  /// Dtype and device as an object, which prints the same: how programs of before 1.5 asked.
  DeprecatedTypeProperties type(Site site = Site::current()) const;
  /// "[CPUFloatType [2, 3]]" and a line's end to the error stream; print(tensor) shows the
  /// elements.
  void print() const;
  /// Do the two share a storage?
  bool is_alias_of(const Tensor& other) const;
  /// The memory that this tensor and its views share (groove/storage.h).
  UntypedStorage storage(Site site = Site::current()) const;
  /// This tensor takes the memory and the geometry of another; or the elements of a
  /// storage, which must be of this dtype. Not for what requires a gradient.
  Tensor& set_(const Tensor& source, Site site = Site::current()) const;
  Tensor& set_(const UntypedStorage& source, Site site = Site::current()) const;
  Tensor& set_(const UntypedStorage& source, std::int64_t storage_offset, IntArrayRef size,
               IntArrayRef stride = {}, Site site = Site::current()) const;
  /// False: what InferenceMode makes can be used like any tensor.
  bool is_inference() const { return false; }

  // ---- host access ----
  /// The single element; throws groove::Error unless numel() is 1.
  Scalar item(Site site = Site::current()) const;
  template <typename T>
  T item(Site site = Site::current()) const {
    if constexpr (is_complex_number<T>)
      return T(complex_item(site));
    else
      return item(site).to<T>();
  }
  /// Address of the first element. From now on Groove assumes that foreign code reads and writes
  /// this memory at any time. Throws groove::Error when T is not the dtype.
  template <typename T>
  T* data_ptr(Site site = Site::current()) const {
    return static_cast<T*>(checked_data_ptr(dtype_of<std::remove_const_t<T>>, false, site));
  }
  void* data_ptr(Site site = Site::current()) const {
    return checked_data_ptr(ScalarType::Undefined, false, site);
  }
  template <typename T>
  T* mutable_data_ptr(Site site = Site::current()) const {
    return data_ptr<T>(site);
  }
  void* mutable_data_ptr(Site site = Site::current()) const { return data_ptr(site); }
  /// Only for reading, at once: does not expose the memory.
  template <typename T>
  const T* const_data_ptr(Site site = Site::current()) const {
    return static_cast<const T*>(checked_data_ptr(dtype_of<std::remove_const_t<T>>, true, site));
  }
  const void* const_data_ptr(Site site = Site::current()) const {
    return checked_data_ptr(ScalarType::Undefined, true, site);
  }
  template <typename T>
  T* data(Site site = Site::current()) const {
    return data_ptr<T>(site);
  }
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor(Site site = Site::current()) const& {
    check_accessor(static_cast<std::int64_t>(N), site);
    return TensorAccessor<T, N>(data_ptr<T>(site), sizes().data(), strides().data());
  }
  template <typename T, std::size_t N>
  TensorAccessor<T, N> accessor() && = delete;  // the tensor would be gone
  template <typename T, std::size_t N>
  PackedTensorAccessor<T, N> packed_accessor64(Site site = Site::current()) const& {
    check_accessor(static_cast<std::int64_t>(N), site);
    return PackedTensorAccessor<T, N>(data_ptr<T>(site), sizes().data(), strides().data());
  }
  template <typename T, std::size_t N>
  PackedTensorAccessor<T, N> packed_accessor32(Site site = Site::current()) const& {
    return packed_accessor64<T, N>(site);
  }

  // ---- spectra (groove/fft.h) ----
  Tensor stft(std::int64_t n_fft, std::optional<std::int64_t> hop_length,
              std::optional<std::int64_t> win_length, const Tensor& window, bool center,
              std::string_view pad_mode, bool normalized = false,
              std::optional<bool> onesided = std::nullopt,
              std::optional<bool> return_complex = std::nullopt, Site site = Site::current()) const;
  Tensor stft(std::int64_t n_fft, std::optional<std::int64_t> hop_length = std::nullopt,
              std::optional<std::int64_t> win_length = std::nullopt,
              const Tensor& window = undefined_tensor(), bool normalized = false,
              std::optional<bool> onesided = std::nullopt,
              std::optional<bool> return_complex = std::nullopt, Site site = Site::current()) const;
  Tensor istft(std::int64_t n_fft, std::optional<std::int64_t> hop_length = std::nullopt,
               std::optional<std::int64_t> win_length = std::nullopt,
               const Tensor& window = undefined_tensor(), bool center = true,
               bool normalized = false, std::optional<bool> onesided = std::nullopt,
               std::optional<std::int64_t> length = std::nullopt, bool return_complex = false,
               Site site = Site::current()) const;

  // ---- of complex tensors (groove/ops/complex.h); others are real numbers ----
  Tensor conj(Site site = Site::current()) const;
  Tensor conj_physical(Site site = Site::current()) const;
  Tensor resolve_conj(Site site = Site::current()) const;
  Tensor resolve_neg(Site site = Site::current()) const;
  Tensor angle(Site site = Site::current()) const;

  // ---- new tensors of this dtype, unless the options name another one ----
  Tensor new_empty(IntArrayRef size, TensorOptions options = {}, Site site = Site::current()) const;
  Tensor new_zeros(IntArrayRef size, TensorOptions options = {}, Site site = Site::current()) const;
  Tensor new_ones(IntArrayRef size, TensorOptions options = {}, Site site = Site::current()) const;
  Tensor new_full(IntArrayRef size, Scalar value, TensorOptions options = {},
                  Site site = Site::current()) const;

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

  /// With `accumulate` values of equal places add up to what is there.
  Tensor& index_put_(std::initializer_list<TensorIndex> indices, const Tensor& value,
                     bool accumulate, Site site = Site::current()) const;
  Tensor& index_put_(ArrayRef<TensorIndex> indices, const Tensor& value, bool accumulate,
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
  std::shared_ptr<autograd::Node> grad_fn() const;
  void retain_grad(Site site = Site::current()) const;
  bool retains_grad() const;
  std::int64_t output_nr() const;
  Tensor detach(Site site = Site::current()) const;
  Tensor& detach_(Site site = Site::current()) const;
  /// The values without history, sharing memory and not counted as versions (LibTorch's spelling).
  Tensor data(Site site = Site::current()) const;
  Tensor tensor_data(Site site = Site::current()) const;
  Tensor variable_data(Site site = Site::current()) const;
  void set_data(const Tensor& value, Site site = Site::current()) const;
  void backward(const Tensor& gradient = undefined_tensor(),
                std::optional<bool> retain_graph = std::nullopt, bool create_graph = false,
                Site site = Site::current()) const;
  /// Only the gradients of `inputs` are added up.
  void backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph,
                std::optional<ArrayRef<Tensor>> inputs, Site site = Site::current()) const;
  /// Called with the gradient when it is computed; a returned tensor replaces it.
  template <typename Hook>
  unsigned register_hook(Hook hook, Site site = Site::current()) const {
    using Result = std::invoke_result_t<Hook, Tensor>;
    if constexpr (std::is_void_v<Result>) {
      return add_gradient_hook(
          [hook](const Tensor& grad) mutable {
            hook(grad);
            return undefined_tensor();
          },
          site);
    } else {
      return add_gradient_hook([hook](const Tensor& grad) mutable { return hook(grad); }, site);
    }
  }
  void remove_hook(unsigned position, Site site = Site::current()) const;

  DataMethods& operator=(const DataMethods&) = default;
  DataMethods& operator=(DataMethods&&) noexcept = default;
  DataMethods(const DataMethods&) = default;
  DataMethods(DataMethods&&) noexcept = default;
  DataMethods() = default;

 private:
  std::complex<double> complex_item(const Site& site) const;
  void* checked_data_ptr(ScalarType expected, bool is_const, const Site& site) const;
  void check_accessor(std::int64_t dims, const Site& site) const;
  unsigned add_gradient_hook(std::function<Tensor(const Tensor&)> hook, const Site& site) const;
};

}  // namespace groove
