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
#include "groove/compat/torch/holders.h"

namespace c10 {
using SymInt = std::int64_t;
using SymIntArrayRef = IntArrayRef;
using SymFloat = double;
using DeviceIndex = std::int8_t;
/// It has the members and the functions of std::complex.
template <typename T>
using complex = std::complex<T>;
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
class WarningHandler;
class Warning {
 public:
  Warning(std::string text, const SourceLocation& location)
      : text_(std::move(text)), location_(location) {}
  const std::string& msg() const { return text_; }
  const SourceLocation& source_location() const { return location_; }
  bool verbatim() const { return false; }
  // Where releases before 1.14 have them.
  static WarningHandler* get_warning_handler();
  static void set_warning_handler(WarningHandler* handler);
  /// Whether TORCH_WARN_ONCE warns each time, until the end of the scope.
  class WarnAlways {
   public:
    explicit WarnAlways(bool setting = true) : previous_(groove::set_warn_always(setting)) {}
    ~WarnAlways() { groove::set_warn_always(previous_); }
    WarnAlways(const WarnAlways&) = delete;
    WarnAlways& operator=(const WarnAlways&) = delete;

   private:
    bool previous_;
  };

 private:
  std::string text_;
  SourceLocation location_;
};
/// One of the two is overridden: the second is how releases before 1.14 ask.
class WarningHandler {
 public:
  virtual ~WarningHandler() = default;
  virtual void process(const Warning& warning) {
    process(warning.source_location(), warning.msg(), warning.verbatim());
  }
  virtual void process(const SourceLocation&, const std::string&, bool /*verbatim*/) {}
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
enum class DispatchKeySet : std::uint8_t { Autograd };
constexpr DispatchKeySet autograd_dispatch_keyset = DispatchKeySet::Autograd;
namespace impl {
// Nothing is dispatched by keys: what excludes or includes one changes nothing.
struct ExcludeDispatchKeyGuard {
  explicit ExcludeDispatchKeyGuard(DispatchKey) {}
};
struct IncludeDispatchKeyGuard {
  explicit IncludeDispatchKeyGuard(DispatchKey) {}
};
// What the keys would say of the thread: operators are recorded, or not.
inline bool tls_is_dispatch_key_excluded(DispatchKey) { return false; }
inline bool tls_is_dispatch_key_included(DispatchKey key) {
  return key == DispatchKey::ADInplaceOrView && groove::GradMode::is_enabled();
}
inline bool tls_is_dispatch_keyset_excluded(DispatchKeySet) {
  return !groove::GradMode::is_enabled();
}
inline bool tls_is_dispatch_keyset_included(DispatchKeySet) { return false; }
}  // namespace impl

struct CustomClassHolder : intrusive_ptr_target {};

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
inline bool get_warnAlways() { return groove::warns_always(); }
inline void set_warnAlways(bool setting) { groove::set_warn_always(setting); }
using WarnAlways = Warning::WarnAlways;
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
inline WarningHandler* Warning::get_warning_handler() {
  return WarningUtils::get_warning_handler();
}
inline void Warning::set_warning_handler(WarningHandler* handler) {
  WarningUtils::set_warning_handler(handler);
}

using Storage = groove::UntypedStorage;
using groove::DataPtr;
enum class Backend : std::uint8_t { CPU, CUDA, SparseCPU, SparseCUDA };
namespace guts {
using std::apply;
/// The text that an address prints as.
template <typename T>
std::string to_string(const T& value) {
  return groove::str(value);
}
}  // namespace guts

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
/// Of releases before 1.9; the enclosed code records no gradients.
struct AutoNonVariableTypeMode : groove::NoGradGuard {
  explicit AutoNonVariableTypeMode(bool = true) {
    groove::warn_each_time(
        "AutoNonVariableTypeMode is deprecated; use InferenceMode or NoGradGuard",
        groove::Site::none());
  }
};

using c10::Backend;
using c10::DataPtr;
using c10::Storage;
inline TensorOptions getDeprecatedTypeProperties(Backend backend, ScalarType dtype) {
  const bool is_cuda = backend == Backend::CUDA || backend == Backend::SparseCUDA;
  const bool is_sparse = backend == Backend::SparseCPU || backend == Backend::SparseCUDA;
  return groove::dtype(dtype)
      .device(is_cuda ? kCUDA : kCPU)
      .layout(is_sparse ? groove::kSparse : groove::kStrided);
}

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
inline Tensor nll_loss2d(groove::Arg self, const Tensor& target, const Tensor& weight = {},
                         std::int64_t reduction = Reduction::Mean,
                         std::int64_t ignore_index = -100) {
  return nll_loss(self, target, weight, reduction, ignore_index);
}
/// An undefined index stands for a whole axis.
inline std::vector<groove::TensorIndex> indices_of(ArrayRef<std::optional<Tensor>> indices) {
  std::vector<groove::TensorIndex> result;
  for (const std::optional<Tensor>& index : indices) {
    if (index && index->defined())
      result.emplace_back(*index);
    else
      result.emplace_back(groove::indexing::Slice());
  }
  return result;
}
inline Tensor index(groove::Arg self, std::initializer_list<std::optional<Tensor>> indices) {
  return self.tensor->index(indices_of(indices), self.site);
}
inline Tensor& index_put_(groove::Arg self, std::initializer_list<std::optional<Tensor>> indices,
                          const Tensor& values, bool accumulate = false) {
  return self.tensor->index_put_(indices_of(indices), values, accumulate, self.site);
}
inline Tensor _reshape_alias(groove::Arg self, IntArrayRef size, IntArrayRef stride) {
  return groove::as_strided(self, size, stride);
}
/// Threads start when they are needed.
inline void init_num_threads() {}
namespace native {
using groove::is_nonzero;
}  // namespace native

// Results into a tensor that is there, which takes their shape.
namespace detail {
inline Tensor& into(Tensor& out, const Tensor& value, const groove::Site& site) {
  if (groove::GradMode::is_enabled() &&
      (value.requires_grad() || (out.defined() && out.requires_grad())))
    throw c10::Error(
        "functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad");
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
inline Tensor& linear_out(Tensor& out, groove::Arg self, const Tensor& weight,
                          const std::optional<Tensor>& bias = std::nullopt) {
  return detail::into(out, linear(self, weight, bias.value_or(Tensor())), self.site);
}
// LibTorch overloads these two, and programs choose one by a cast to the type of its function. A
// call finds Groove's own, unless its dtype is already an optional.
template <typename Dtype>
requires std::is_same_v<Dtype, std::optional<ScalarType>> Tensor softmax(const Tensor& self,
                                                                         std::int64_t dim,
                                                                         Dtype dtype) {
  return groove::softmax(self, dim, dtype);
}
template <typename Dtype>
requires std::is_same_v<Dtype, std::optional<ScalarType>> Tensor log_softmax(const Tensor& self,
                                                                             std::int64_t dim,
                                                                             Dtype dtype) {
  return groove::log_softmax(self, dim, dtype);
}
inline Tensor& normal_out(Tensor& out, double mean, double std, IntArrayRef size,
                          groove::Site site = groove::Site::current()) {
  return out.copy_(normal(mean, std, size, out.scalar_type(), site), false, site);
}
}  // namespace at

namespace caffe2 {
using groove::TypeMeta;
}

namespace torch {
using at::_reshape_alias;
using at::AutoNonVariableTypeMode;
using at::Backend;
using at::index;
using at::index_put_;
using at::init_num_threads;
using at::linear_out;
using at::Storage;
using c10::CustomClassHolder;
using std::make_unique;

namespace autograd {
/// A tensor with the values and without the history; shares its memory.
inline groove::Tensor make_variable(const groove::Tensor& data, bool requires_grad = false,
                                    bool /*allow_tensor_metadata_change*/ = true) {
  groove::Tensor result = data.defined() ? data.detach() : data;
  if (requires_grad) result.requires_grad_();
  return result;
}
/// The identity, whose gradient is undefined.
class UndefinedGrad {
 public:
  groove::autograd::variable_list apply(groove::autograd::variable_list inputs) {
    for (groove::Tensor& input : inputs) input = Step::apply(input);
    return inputs;
  }

 private:
  struct Step : groove::autograd::Function<Step> {
    static groove::Tensor forward(groove::autograd::AutogradContext*, const groove::Tensor& input) {
      return input.clone();
    }
    static groove::autograd::variable_list backward(groove::autograd::AutogradContext*,
                                                    groove::autograd::variable_list) {
      return {groove::Tensor()};
    }
  };
};
}  // namespace autograd

namespace utils {
/// The elements of all tensors, one after the other.
inline groove::Tensor flatten_dense_tensors(groove::TensorList tensors) {
  std::vector<groove::Tensor> flat;
  for (const groove::Tensor& tensor : tensors) flat.push_back(tensor.contiguous().view({-1}));
  return flat.size() == 1 ? flat[0] : groove::cat(flat);
}
/// The parts of `flat` in the shapes of the tensors; those without elements are new.
inline std::vector<groove::Tensor> unflatten_dense_tensors(const groove::Tensor& flat,
                                                           groove::TensorList tensors) {
  std::vector<groove::Tensor> parts;
  std::int64_t at = 0;
  for (const groove::Tensor& tensor : tensors) {
    const std::int64_t count = tensor.numel();
    parts.push_back(count == 0 ? flat.new_empty({0})
                               : flat.narrow(0, at, count).view(tensor.sizes()));
    at += count;
  }
  return parts;
}
}  // namespace utils

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
using at::is_floating_point;
using at::log_;
using at::log_softmax;
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
using at::softmax;
using at::sqrt_;
using at::stack_out;
using at::sub_out;
using at::tanh_;
using at::zero_;
using c10::SourceLocation;
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
