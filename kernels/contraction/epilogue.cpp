// Runs a contraction's epilogue over a rectangle of finished sums.
#include "kernels/contraction/epilogue.h"

#include <cstring>

#include "kernels/asmjit/isa.h"
#include "kernels/nest_driver.h"
#include "src/core/check.h"
#include "src/core/faults.h"
#include "src/core/fork.h"

namespace groove::kernels {
namespace {

template <typename T>
void copy_block(const SumBlock& block, std::int64_t batch, T* out, const std::int64_t* strides) {
  const T* in = static_cast<const T*>(block.sums) + batch * block.batch_stride;
  out += (block.batch + batch) * strides[2] + block.row * strides[1] + block.col * strides[0];
  for (std::int64_t i = 0; i < block.rows; ++i, in += block.row_stride, out += strides[1]) {
    if (strides[0] == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(block.cols) * sizeof(T));
      continue;
    }
    for (std::int64_t j = 0; j < block.cols; ++j) out[j * strides[0]] = in[j];
  }
}

template <typename T>
void copy_batches(const SumBlock& block, void* out, const std::int64_t* strides) {
  for (std::int64_t i = 0; i < block.batches; ++i)
    copy_block(block, i, static_cast<T*>(out), strides);
}

}  // namespace

bool is_plain_epilogue(const Contraction& contraction) {
  const Kernel& kernel = contraction.epilogue;
  return kernel.code.size() == 2 && kernel.accesses.size() == 2 &&
         kernel.code[0].prim == Prim::kLoad && kernel.code[0].imm == 0 &&
         kernel.code[1].prim == Prim::kStore && kernel.code[1].imm == 1 &&
         kernel.accesses[1].dtype == contraction.dtype;
}

struct Epilogue::Inner {
  Launch launch;
  void* pointers[kMaxAccesses];
  std::int64_t strides[kMaxAccesses][kMaxAxes];
};

Epilogue::Epilogue(const Contraction& contraction, Backend* backend, bool is_rare)
    : dtype_(contraction.dtype),
      is_plain_(is_plain_epilogue(contraction)),
      accesses_(contraction.epilogue.accesses.size()),
      backend_(backend) {
  GROOVE_ASSERT(accesses_ <= kMaxAccesses, "epilogue with {} accesses", accesses_);
  if (is_plain_) return;
  GROOVE_ASSERT(backend != nullptr, "no backend for the epilogue of a contraction");
  kernel_ = contraction.epilogue;
  if (!is_rare) callable();
}

const Callable& Epilogue::callable() const {
  if (const Callable* const known = known_.load(std::memory_order_acquire)) return *known;
  const ForkGate gate;
  const std::lock_guard lock(mutex_);
  if (!callable_) callable_ = compile_cached(*backend_, kernel_);
  known_.store(callable_.get(), std::memory_order_release);
  return *callable_;
}

void Epilogue::run(const ContractionLaunch& launch, const SumBlock& block) const noexcept {
  if (block.rows <= 0 || block.cols <= 0) return;
  if (is_plain_) {
    switch (element_size(dtype_)) {
      case 1:
        copy_batches<std::uint8_t>(block, launch.pointers[0], launch.strides[0]);
        break;
      case 2:
        copy_batches<std::uint16_t>(block, launch.pointers[0], launch.strides[0]);
        break;
      case 4:
        copy_batches<std::uint32_t>(block, launch.pointers[0], launch.strides[0]);
        break;
      default:
        copy_batches<std::uint64_t>(block, launch.pointers[0], launch.strides[0]);
    }
    return;
  }
  Inner inner;
  describe(launch, block, inner);
  callable().run(inner.launch);
}

void Epilogue::describe(const ContractionLaunch& launch, const SumBlock& block,
                        Inner& inner) const {
  // Launch pointers address index 0 of every axis, so the block's own address is moved back.
  const auto back = static_cast<std::uintptr_t>(block.batch * block.batch_stride +
                                                block.row * block.row_stride + block.col) *
                    element_size(dtype_);
  inner.pointers[0] = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block.sums) - back);
  std::memset(inner.strides[0], 0, sizeof inner.strides[0]);
  inner.strides[0][0] = 1;
  inner.strides[0][1] = block.row_stride;
  inner.strides[0][2] = block.batch_stride;
  for (std::size_t i = 1; i < accesses_; ++i) {
    inner.pointers[i] = launch.pointers[i - 1];
    std::memcpy(inner.strides[i], launch.strides[i - 1], sizeof inner.strides[i]);
  }
  inner.launch.rank = 3;
  inner.launch.begin[0] = block.col;
  inner.launch.begin[1] = block.row;
  inner.launch.begin[2] = block.batch;
  inner.launch.count[0] = block.cols;
  inner.launch.count[1] = block.rows;
  inner.launch.count[2] = has_fault(Fault::kEpilogueOfOneImage) ? 1 : block.batches;
  inner.launch.pointers = inner.pointers;
  inner.launch.strides = inner.strides;
  inner.launch.scalars = launch.scalars;
}

bool Epilogue::bind(const ContractionLaunch& launch, const SumBlock& block,
                    std::vector<void*>& pointers, std::vector<BoundCall>& calls) const {
  if (block.rows <= 0 || block.cols <= 0) return true;
  if (is_plain_) return false;
  const auto* const kernel = dynamic_cast<const BindableKernel*>(&callable());
  if (kernel == nullptr) return false;
  const NestFunction function = kernel->code().functions[static_cast<std::size_t>(isa())].load();
  Inner inner;
  describe(launch, block, inner);
  const std::size_t first = calls.size();
  if (function == nullptr || !kernel->bind(inner.launch, calls)) return false;
  for (std::size_t i = first; i < calls.size(); ++i) {
    calls[i].function = reinterpret_cast<BoundFunction>(function);
  }
  pointers.assign(inner.pointers, inner.pointers + accesses_);
  return true;
}

}  // namespace groove::kernels
