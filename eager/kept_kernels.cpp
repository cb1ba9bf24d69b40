#include "eager/kept_kernels.h"

#include <bit>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "src/core/attribute_words.h"
#include "src/core/fork.h"
#include "src/core/hash.h"

namespace groove::eager {
namespace {

constexpr std::size_t kMost = 4096;

using Words = std::vector<std::uint64_t>;
struct Hash {
  std::size_t operator()(const Words& words) const { return mixed_all(words.size(), words); }
};
struct KeptKernels {
  std::mutex mutex;
  std::unordered_map<Words, std::shared_ptr<const kernels::Callable>, Hash> kernels;
};

// Never destroyed: ops may run from other static destructors.
KeptKernels& kept_kernels() {
  static KeptKernels& instance = *new KeptKernels;
  return instance;
}

}  // namespace

KernelKey::KernelKey() {
  words_.reserve(16);
  add(std::bit_cast<std::uintptr_t>(&kernels::current_backend()));
  add(kernels::isa());
}

KernelKey::KernelKey(const Call& call, ArrayRef<Type> inputs, const TypeResult& types)
    : KernelKey() {
  add(std::bit_cast<std::uintptr_t>(call.op));
  add(ScalarType(types.compute));
  for (const Type& input : inputs) add(input.dtype);
  for (const Type& output : types.outputs) add(output.dtype);
  each_attribute(*call.op, *call.attrs, [&](AttrType type, std::size_t begin, std::size_t) {
    if (type != AttrType::kInts) add(call.attrs->words()[begin]);
  });
}

std::shared_ptr<const kernels::Callable> kept_kernel(KernelKey key,
                                                     const std::function<kernels::Kernel()>& make) {
  KeptKernels& kept = kept_kernels();
  {
    const ForkGate gate;
    const std::lock_guard lock(kept.mutex);
    const auto known = kept.kernels.find(key.words());
    if (known != kept.kernels.end()) return known->second;
  }
  auto made = kernels::compile_cached(kernels::current_backend(), make());
  const ForkGate gate;
  const std::lock_guard lock(kept.mutex);
  if (kept.kernels.size() >= kMost) kept.kernels.clear();
  kept.kernels.emplace(key.words(), made);
  return made;
}

}  // namespace groove::eager
