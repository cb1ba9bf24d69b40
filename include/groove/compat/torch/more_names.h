// Names of LibTorch that are no more than a few words over Groove's.
#pragma once

#include <iterator>
#include <list>
#include <map>
#include <ostream>
#include <set>
#include <unordered_map>
#include <vector>

#include "groove/compat/names.h"

namespace c10 {
using SymInt = std::int64_t;
using SymIntArrayRef = IntArrayRef;
using SymFloat = double;
using DeviceIndex = std::int8_t;
template <typename T>
using intrusive_ptr = std::shared_ptr<T>;
template <typename T, typename... Args>
std::shared_ptr<T> make_intrusive(Args&&... args) {
  return std::make_shared<T>(std::forward<Args>(args)...);
}
/// The elements with the separator between them, as operator<< writes them.
template <typename Container>
std::string Join(const std::string& separator, const Container& values) {
  std::string text;
  bool is_first = true;
  for (const auto& value : values) {
    if (!is_first) text += separator;
    text += groove::str(value);
    is_first = false;
  }
  return text;
}

constexpr ScalarType typeMetaToScalarType(ScalarType dtype) { return dtype; }

// Warnings as LibTorch hands them to a handler of the program.
struct SourceLocation {
  const char* function = "";
  const char* file = "";
  std::uint32_t line = 0;
};
class Warning {
 public:
  Warning(std::string text, const SourceLocation& location)
      : text_(std::move(text)), location_(location) {}
  const std::string& msg() const { return text_; }
  const SourceLocation& source_location() const { return location_; }
  bool verbatim() const { return false; }

 private:
  std::string text_;
  SourceLocation location_;
};
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) = 0;
};
enum class DispatchKey : std::uint16_t { Undefined, CPU, CUDA, Autograd, AutogradCPU, AutogradCUDA,
                                         Autocast, AutocastCUDA, ADInplaceOrView, Meta };
namespace impl {
// Nothing is dispatched by keys: what excludes or includes one changes nothing.
struct ExcludeDispatchKeyGuard {
  explicit ExcludeDispatchKeyGuard(DispatchKey) {}
};
struct IncludeDispatchKeyGuard {
  explicit IncludeDispatchKeyGuard(DispatchKey) {}
};
}  // namespace impl

struct CustomClassHolder {
  virtual ~CustomClassHolder() = default;
};

namespace WarningUtils {
namespace detail {
inline WarningHandler* current = nullptr;
}
inline WarningHandler* get_warning_handler() { return detail::current; }
/// Null stands for standard error.
inline void set_warning_handler(WarningHandler* handler) {
  detail::current = handler;
  if (!handler) {
    groove::set_warning_handler({});
    return;
  }
  groove::set_warning_handler([handler](const std::string& text, const groove::Site& site) {
    handler->process(Warning(text, {"", site.file_name(), site.line()}));
  });
}
class WarningHandlerGuard {
 public:
  explicit WarningHandlerGuard(WarningHandler* handler) : previous_(get_warning_handler()) {
    set_warning_handler(handler);
  }
  ~WarningHandlerGuard() { set_warning_handler(previous_); }
  WarningHandlerGuard(const WarningHandlerGuard&) = delete;
  WarningHandlerGuard& operator=(const WarningHandlerGuard&) = delete;

 private:
  WarningHandler* previous_;
};
}  // namespace WarningUtils

namespace detail {
// A container's elements with spaces between them, at most 100.
template <typename Iterator>
std::ostream& print_elements(std::ostream& out, Iterator first, Iterator last) {
  constexpr int kMost = 100;
  int count = 0;
  for (; first != last; ++first, ++count) {
    if (count > 0) out << ' ';
    if (count == kMost) return out << "...";
    out << *first;
  }
  return out;
}
}  // namespace detail
}  // namespace c10

// LibTorch's headers make the standard containers printable, and programs do print them.
namespace std {
template <typename First, typename Second>
std::ostream& operator<<(std::ostream& out, const std::pair<First, Second>& pair) {
  return out << '(' << pair.first << ", " << pair.second << ')';
}
template <typename T, typename... More>
std::ostream& operator<<(std::ostream& out, const std::vector<T, More...>& values) {
  return c10::detail::print_elements(out, values.begin(), values.end());
}
template <typename T, typename... More>
std::ostream& operator<<(std::ostream& out, const std::list<T, More...>& values) {
  return c10::detail::print_elements(out, values.begin(), values.end());
}
template <typename T, typename... More>
std::ostream& operator<<(std::ostream& out, const std::set<T, More...>& values) {
  return c10::detail::print_elements(out, values.begin(), values.end());
}
template <typename K, typename V, typename... More>
std::ostream& operator<<(std::ostream& out, const std::map<K, V, More...>& values) {
  return c10::detail::print_elements(out, values.begin(), values.end());
}
template <typename K, typename V, typename... More>
std::ostream& operator<<(std::ostream& out, const std::unordered_map<K, V, More...>& values) {
  return c10::detail::print_elements(out, values.begin(), values.end());
}
}  // namespace std

namespace at {
using c10::intrusive_ptr;
using c10::SymInt;
using c10::SymIntArrayRef;
using c10::typeMetaToScalarType;
using c10::Warning;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;

inline std::size_t getNumGPUs() { return 0; }
inline bool hasCUDA() { return false; }
inline bool hasMPS() { return false; }

// Nothing dispatches below autograd here.
struct AutoDispatchBelowADInplaceOrView {};
struct AutoDispatchBelowAutograd {};

using CheckedFrom = const char*;
struct TensorArg {
  TensorArg(const Tensor& value, const char* label, int place)
      : tensor(value), name(label), pos(place) {}
  const Tensor* operator->() const { return &tensor; }
  const Tensor& operator*() const { return tensor; }
  const Tensor& tensor;
  const char* name;
  int pos;
};

// Mixed precision chosen by a thread: off, and throws when it is turned on.
namespace autocast {
inline void throw_when(bool enabled) {
  if (enabled)
    throw groove::Error("autocast: Groove does not choose dtypes by itself; convert with to()");
}
inline bool is_enabled() { return false; }
inline bool is_autocast_enabled(DeviceType) { return false; }
inline void set_enabled(bool enabled) { throw_when(enabled); }
inline void set_autocast_enabled(DeviceType, bool enabled) { throw_when(enabled); }
inline void set_autocast_dtype(DeviceType, ScalarType) {}
inline ScalarType get_autocast_dtype(DeviceType) { return kBFloat16; }
inline void set_autocast_gpu_dtype(ScalarType) {}
inline void set_autocast_cache_enabled(bool) {}
inline bool is_autocast_cache_enabled() { return false; }
inline Tensor cached_cast(ScalarType dtype, const Tensor& value, DeviceType = kCPU) {
  return value.defined() && value.is_floating_point() ? value.to(dtype) : value;
}
inline std::optional<Tensor> cached_cast(ScalarType dtype, const std::optional<Tensor>& value,
                                         DeviceType = kCPU) {
  return value ? std::optional<Tensor>(cached_cast(dtype, *value)) : std::nullopt;
}
inline void clear_cache() {}
inline int increment_nesting() { return 1; }
inline int decrement_nesting() { return 0; }
}  // namespace autocast

/// One call over the whole range: Groove's own operators are what runs in parallel.
template <typename Function>
void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t, const Function& function) {
  if (begin < end) function(begin, end);
}
inline bool in_parallel_region() { return false; }
inline int get_thread_num() { return 0; }

// The in-place methods as functions.
inline Tensor& relu_(const Tensor& self) { return self.relu_(); }
inline Tensor& sigmoid_(const Tensor& self) { return self.sigmoid_(); }
inline Tensor& tanh_(const Tensor& self) { return self.tanh_(); }
inline Tensor& exp_(const Tensor& self) { return self.exp_(); }
inline Tensor& log_(const Tensor& self) { return self.log_(); }
inline Tensor& sqrt_(const Tensor& self) { return self.sqrt_(); }
inline Tensor& abs_(const Tensor& self) { return self.abs_(); }
inline Tensor& neg_(const Tensor& self) { return self.neg_(); }
inline Tensor& fill_(const Tensor& self, Scalar value) { return self.fill_(value); }
inline Tensor& zero_(const Tensor& self) { return self.zero_(); }
inline Tensor& clamp_(const Tensor& self, std::optional<Scalar> min,
                      std::optional<Scalar> max = std::nullopt) {
  return self.clamp_(min, max);
}
inline Tensor _cast_Float(const Tensor& self, bool = false) { return self.to(kFloat); }
inline Tensor _cast_Double(const Tensor& self, bool = false) { return self.to(kDouble); }
inline Tensor _cast_Long(const Tensor& self, bool = false) { return self.to(kLong); }
inline Tensor _cast_Int(const Tensor& self, bool = false) { return self.to(kInt); }
inline Tensor detach(const Tensor& self) { return self.detach(); }
inline std::int64_t size(const Tensor& self, std::int64_t dim) { return self.size(dim); }
inline std::int64_t numel(const Tensor& self) { return self.numel(); }
inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
inline bool is_complex(const Tensor&) { return false; }
inline bool is_nonzero(const Tensor& self) { return self.item().toBool(); }
inline Tensor nll_loss2d(const Tensor& self, const Tensor& target, const Tensor& weight = {},
                         std::int64_t reduction = Reduction::Mean,
                         std::int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
inline Tensor replication_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad(self, padding, "replicate");
}
inline Tensor reflection_pad2d(const Tensor& self, IntArrayRef padding) {
  return pad(self, padding, "reflect");
}
inline void print(const Tensor& self) { self.print(); }
/// The smaller (greater) operand; where one is NaN, the other.
inline Tensor fmin(const Tensor& self, const Tensor& other) {
  return where(isnan(self), other, where(isnan(other), self, minimum(self, other)));
}
inline Tensor fmax(const Tensor& self, const Tensor& other) {
  return where(isnan(self), other, where(isnan(other), self, maximum(self, other)));
}
inline Tensor trace(const Tensor& self) { return self.diagonal().sum(); }
inline Tensor take(const Tensor& self, const Tensor& index) {
  return self.reshape({-1}).index_select(0, index.reshape({-1})).view(index.sizes());
}
/// log(self / (1 - self)), of values kept within eps of 0 and 1 where eps is given.
inline Tensor logit(const Tensor& self, std::optional<double> eps = std::nullopt) {
  const Tensor x = eps ? self.clamp(*eps, 1 - *eps) : self;
  return log(x / (1 - x));
}
inline Tensor argwhere(const Tensor& self) { return nonzero(self); }
// Results into a tensor that is there, which takes their shape.
namespace detail {
inline Tensor& into(Tensor& out, const Tensor& value) {
  if (!out.defined()) return out = value;
  return out.resize_(value.sizes()).copy_(value);
}
}  // namespace detail
inline Tensor& add_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1) {
  return detail::into(out, add(self, other, alpha));
}
inline Tensor& sub_out(Tensor& out, const Tensor& self, const Tensor& other, Scalar alpha = 1) {
  return detail::into(out, sub(self, other, alpha));
}
inline Tensor& mul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return detail::into(out, mul(self, other));
}
inline Tensor& div_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return detail::into(out, div(self, other));
}
inline Tensor& mm_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return detail::into(out, mm(self, other));
}
inline Tensor& matmul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return detail::into(out, matmul(self, other));
}
inline Tensor& cat_out(Tensor& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::into(out, cat(tensors, dim));
}
inline Tensor& stack_out(Tensor& out, TensorList tensors, std::int64_t dim = 0) {
  return detail::into(out, stack(tensors, dim));
}
inline Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size) {
  return out.copy_(normal(mean, std, size, out.scalar_type()));
}
}  // namespace at

namespace torch {
using c10::CustomClassHolder;
using std::make_unique;

using at::_cast_Double;
using at::_cast_Float;
using at::_cast_Int;
using at::_cast_Long;
using at::abs_;
using at::add_out;
using at::cat_out;
using at::div_out;
using at::matmul_out;
using at::mm_out;
using at::mul_out;
using at::normal_out;
using at::stack_out;
using at::sub_out;
using at::argwhere;
using at::clamp_;
using at::detach;
using at::exp_;
using at::fill_;
using at::getNumGPUs;
using at::hasCUDA;
using at::hasMPS;
using at::is_complex;
using at::is_floating_point;
using at::fmax;
using at::fmin;
using at::is_nonzero;
using at::print;
using at::reflection_pad2d;
using at::replication_pad2d;
using at::logit;
using at::nll_loss2d;
using at::take;
using at::trace;
using at::log_;
using at::neg_;
using at::numel;
using at::relu_;
using at::sigmoid_;
using at::size;
using at::sqrt_;
using at::tanh_;
using at::zero_;
using c10::typeMetaToScalarType;
using c10::Warning;
using c10::WarningHandler;
namespace WarningUtils = c10::WarningUtils;

namespace mps {
inline bool is_available() { return false; }
inline void synchronize() {}
inline void commit() {}
inline void manual_seed(std::uint64_t) {}
}  // namespace mps
namespace xpu {
inline bool is_available() { return false; }
inline std::size_t device_count() { return 0; }
}  // namespace xpu
}  // namespace torch
