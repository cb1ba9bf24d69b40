// The namespaces of LibTorch: torch, at and c10, which programs may open. Groove's names stand in
// them one by one (names.h); what LibTorch has besides is here.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <variant>

#include "groove/arg.h"
#include "groove/compat/c10/util/Exception.h"
#include "groove/compat/cuda.h"
#include "groove/compat/names.h"
#include "groove/compat/torch/autocast.h"
#include "groove/compat/torch/call_forms.h"
#include "groove/compat/torch/dispatch.h"
#include "groove/compat/torch/functional_detail.h"
#include "groove/compat/torch/in_place.h"
#include "groove/compat/torch/more_names.h"
#include "groove/compat/torch/nodes.h"
#include "groove/compat/torch/out_forms.h"
#include "groove/compat/torch/out_lists.h"
#include "groove/compat/torch/script_module.h"
#include "groove/compat/torch/special_names.h"
#include "groove/compat/torch/specialised.h"
#include "groove/compat/torch/traits.h"
#include "groove/compat/torch/version.h"
#include "groove/groove.h"

#define TORCH_MODULE(Name) GROOVE_MODULE(Name)
#define TORCH_MODULE_IMPL(Name, ImplType) GROOVE_MODULE_IMPL(Name, ImplType)
#define TORCH_ARG(T, name) GROOVE_ARG(T, name)
#define FORWARD_HAS_DEFAULT_ARGS(...) GROOVE_FORWARD_HAS_DEFAULT_ARGS(__VA_ARGS__)
#define TORCH_API
#define TORCH_CUDA_CU_API
#define C10_API
#define C10_LOG_API_USAGE_ONCE(...) (void)0;
#define C10_UNUSED [[maybe_unused]]
#define C10_NODISCARD [[nodiscard]]
#define C10_ALWAYS_INLINE inline __attribute__((always_inline))
#define C10_LIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 1))
#define C10_UNLIKELY(condition) (__builtin_expect(static_cast<bool>(condition), 0))
#ifndef C10_HOST_DEVICE
#ifdef __CUDACC__
#define C10_HOST_DEVICE __host__ __device__
#define C10_DEVICE __device__
#define C10_HOST __host__
#else
#define C10_HOST_DEVICE
#define C10_DEVICE
#define C10_HOST
#endif
#endif

namespace c10 {
using std::get_if;
using std::holds_alternative;
using std::in_place;
using std::make_optional;
using std::monostate;
using std::nullopt;
using std::nullopt_t;
using std::optional;
using std::to_string;
using std::variant;
using std::visit;
using string_view = std::string_view;
}  // namespace c10

namespace at {
using c10::make_optional;
using c10::nullopt;
using c10::optional;

// Switches of libraries that Groove does not use; accepted and without effect.
class Context {
 public:
  void setDeterministicCuDNN(bool) {}
  void setBenchmarkCuDNN(bool) {}
  void setAllowTF32CuBLAS(bool) {}
  void setAllowTF32CuDNN(bool) {}
  void setFloat32MatmulPrecision(const std::string&) {}
  void setDeterministicAlgorithms(bool, bool) {}
  static bool hasCUDA() { return false; }
  static groove::Generator defaultGenerator(groove::Device) {
    return groove::Generator::of_process();
  }
};
using groove::Generator;
// Asked for by name only: the one kind of generator there is.
struct CPUGeneratorImpl {};
template <typename Impl = CPUGeneratorImpl>
Generator make_generator(std::uint64_t seed = 67280421310721) {
  return Generator(seed);
}
namespace detail {
inline const Generator& getDefaultCPUGenerator() {
  static const Generator generator = Generator::of_process();
  return generator;
}
inline Generator createCPUGenerator(std::uint64_t seed = 67280421310721) { return Generator(seed); }
}  // namespace detail
inline Context& globalContext() {
  static Context context;
  return context;
}
}  // namespace at

namespace torch {
using at::CPUGeneratorImpl;
using at::globalContext;
using at::make_generator;
using c10::make_optional;
using std::make_unique;
}  // namespace torch

// Over the above.
#include "groove/compat/torch/library.h"
#include "groove/compat/torch/optim/serialize.h"
#include "groove/compat/torch/utilities.h"
