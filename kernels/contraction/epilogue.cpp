// Runs a contraction's epilogue over a rectangle of finished sums.
#include "kernels/contraction/epilogue.h"

#include <cstring>

#include "src/core/check.h"

namespace groove::kernels {
namespace {

constexpr std::size_t kMaxAccesses = 64;

template <typename T>
void copy_block(const SumBlock& block, T* out, const std::int64_t* strides) {
  const T* in = static_cast<const T*>(block.sums);
  out += block.batch * strides[2] + block.row * strides[1] + block.col * strides[0];
  for (std::int64_t i = 0; i < block.rows; ++i, in += block.row_stride, out += strides[1]) {
    if (strides[0] == 1) {
      std::memcpy(out, in, static_cast<std::size_t>(block.cols) * sizeof(T));
      continue;
    }
    for (std::int64_t j = 0; j < block.cols; ++j) out[j * strides[0]] = in[j];
  }
}

}  // namespace

bool is_plain_epilogue(const Contraction& contraction) {
  const Kernel& kernel = contraction.epilogue;
  return kernel.code.size() == 2 && kernel.accesses.size() == 2 &&
         kernel.code[0].prim == Prim::kLoad && kernel.code[0].imm == 0 &&
         kernel.code[1].prim == Prim::kStore && kernel.code[1].imm == 1 &&
         kernel.accesses[1].dtype == contraction.dtype;
}

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
  std::call_once(is_compiled_, [this] { callable_ = compile_cached(*backend_, kernel_); });
  return *callable_;
}

void Epilogue::run(const ContractionLaunch& launch, const SumBlock& block) const noexcept {
  if (block.rows <= 0 || block.cols <= 0) return;
  if (is_plain_) {
    switch (element_size(dtype_)) {
      case 1:
        copy_block(block, static_cast<std::uint8_t*>(launch.pointers[0]), launch.strides[0]);
        break;
      case 2:
        copy_block(block, static_cast<std::uint16_t*>(launch.pointers[0]), launch.strides[0]);
        break;
      case 4:
        copy_block(block, static_cast<std::uint32_t*>(launch.pointers[0]), launch.strides[0]);
        break;
      default:
        copy_block(block, static_cast<std::uint64_t*>(launch.pointers[0]), launch.strides[0]);
    }
    return;
  }
  void* pointers[kMaxAccesses];
  std::int64_t strides[kMaxAccesses][kMaxAxes];
  // Launch pointers address index 0 of every axis, so the block's own address is moved back.
  const auto back =
      static_cast<std::uintptr_t>(block.row * block.row_stride + block.col) * element_size(dtype_);
  pointers[0] = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(block.sums) - back);
  std::memset(strides[0], 0, sizeof strides[0]);
  strides[0][0] = 1;
  strides[0][1] = block.row_stride;
  for (std::size_t i = 1; i < accesses_; ++i) {
    pointers[i] = launch.pointers[i - 1];
    std::memcpy(strides[i], launch.strides[i - 1], sizeof strides[i]);
  }
  Launch inner;
  inner.rank = 3;
  inner.begin[0] = block.col;
  inner.begin[1] = block.row;
  inner.begin[2] = block.batch;
  inner.count[0] = block.cols;
  inner.count[1] = block.rows;
  inner.count[2] = 1;
  inner.pointers = pointers;
  inner.strides = strides;
  inner.scalars = launch.scalars;
  callable().run(inner);
}

}  // namespace groove::kernels
