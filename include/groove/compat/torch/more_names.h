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
enum class DispatchKey : std::uint16_t {
  Undefined,
  CPU,
  CUDA,
  Autograd,
  AutogradCPU,
  AutogradCUDA,
  Autocast,
  AutocastCUDA,
  ADInplaceOrView,
  Meta
};
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
inline Tensor& relu_(groove::Arg self) { return self.tensor->relu_(self.site); }
inline Tensor& sigmoid_(groove::Arg self) { return self.tensor->sigmoid_(self.site); }
inline Tensor& tanh_(groove::Arg self) { return self.tensor->tanh_(self.site); }
inline Tensor& exp_(groove::Arg self) { return self.tensor->exp_(self.site); }
inline Tensor& log_(groove::Arg self) { return self.tensor->log_(self.site); }
inline Tensor& sqrt_(groove::Arg self) { return self.tensor->sqrt_(self.site); }
inline Tensor& abs_(groove::Arg self) { return self.tensor->abs_(self.site); }
inline Tensor& neg_(groove::Arg self) { return self.tensor->neg_(self.site); }
inline Tensor& fill_(groove::Arg self, Scalar value) {
  return self.tensor->fill_(value, self.site);
}
inline Tensor& zero_(groove::Arg self) { return self.tensor->zero_(self.site); }
inline Tensor& clamp_(groove::Arg self, std::optional<Scalar> min,
                      std::optional<Scalar> max = std::nullopt) {
  return self.tensor->clamp_(min, max, self.site);
}
inline Tensor _cast_Float(groove::Arg self, bool = false) {
  return self.tensor->to(kFloat, false, false, self.site);
}
inline Tensor _cast_Double(groove::Arg self, bool = false) {
  return self.tensor->to(kDouble, false, false, self.site);
}
inline Tensor _cast_Long(groove::Arg self, bool = false) {
  return self.tensor->to(kLong, false, false, self.site);
}
inline Tensor _cast_Int(groove::Arg self, bool = false) {
  return self.tensor->to(kInt, false, false, self.site);
}
inline Tensor detach(groove::Arg self) { return self.tensor->detach(self.site); }
inline std::int64_t size(groove::Arg self, std::int64_t dim) {
  return self.tensor->size(dim, self.site);
}
inline std::int64_t numel(const Tensor& self) { return self.numel(); }
inline bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
inline bool is_complex(const Tensor&) { return false; }
inline bool is_nonzero(groove::Arg self) { return self.tensor->item(self.site).toBool(); }
inline Tensor nll_loss2d(groove::Arg self, const Tensor& target, const Tensor& weight = {},
                         std::int64_t reduction = Reduction::Mean,
                         std::int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
// Results into a tensor that is there, which takes their shape.
namespace detail {
inline Tensor& into(Tensor& out, const Tensor& value, const groove::Site& site) {
  if (!out.defined()) return out = value;
  return out.resize_(value.sizes(), std::nullopt, site).copy_(value, false, site);
}
}  // namespace detail
inline Tensor& add_out(Tensor& out, groove::Arg self, const Tensor& other, Scalar alpha = 1) {
  return detail::into(out, add(self, other, alpha), self.site);
}
inline Tensor& sub_out(Tensor& out, groove::Arg self, const Tensor& other, Scalar alpha = 1) {
  return detail::into(out, sub(self, other, alpha), self.site);
}
inline Tensor& mul_out(Tensor& out, groove::Arg self, const Tensor& other) {
  return detail::into(out, mul(self, other), self.site);
}
inline Tensor& div_out(Tensor& out, groove::Arg self, const Tensor& other) {
  return detail::into(out, div(self, other), self.site);
}
inline Tensor& mm_out(Tensor& out, groove::Arg self, const Tensor& other) {
  return detail::into(out, mm(self, other), self.site);
}
inline Tensor& matmul_out(Tensor& out, groove::Arg self, const Tensor& other) {
  return detail::into(out, matmul(self, other), self.site);
}
inline Tensor& cat_out(Tensor& out, TensorList tensors, std::int64_t dim = 0,
                       groove::Site site = groove::Site::current()) {
  return detail::into(out, cat(tensors, dim, site), site);
}
inline Tensor& stack_out(Tensor& out, TensorList tensors, std::int64_t dim = 0,
                         groove::Site site = groove::Site::current()) {
  return detail::into(out, stack(tensors, dim, site), site);
}
inline Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size,
                          groove::Site site = groove::Site::current()) {
  return out.copy_(normal(mean, std, size, out.scalar_type(), site), false, site);
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
using at::clamp_;
using at::detach;
using at::div_out;
using at::exp_;
using at::fill_;
using at::getNumGPUs;
using at::hasCUDA;
using at::hasMPS;
using at::is_complex;
using at::is_floating_point;
using at::is_nonzero;
using at::log_;
using at::matmul_out;
using at::mm_out;
using at::mul_out;
using at::neg_;
using at::nll_loss2d;
using at::normal_out;
using at::numel;
using at::print;
using at::relu_;
using at::sigmoid_;
using at::size;
using at::sqrt_;
using at::stack_out;
using at::sub_out;
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
