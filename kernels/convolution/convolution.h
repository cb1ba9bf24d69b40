// Convolutions over [N, C, H, W] as products of matrices that are never written out. All three
// forms follow numerics.md §4: a chain of fma over ascending k in chunks of 256 by the nominal
// position in k, where taps that fall outside (or, backward, between strides) are skipped but keep
// their position: they decide where chunks end and do nothing else.
//
//   form             result          k, ascending from left to right
//   kForward         [N, O, OH, OW]  (kh, kw, channel of the group)
//   kBackwardData    [N, C, H, W]    (kh, kw, output channel of the group)
//   kBackwardWeight  [O, C/g, KH, KW]  (n, oh, ow)
#pragma once

#include <cstdint>

#include "groove/dtype.h"
#include "kernels/asmjit/isa.h"

namespace groove::kernels {

enum class ConvolutionForm : std::uint8_t { kForward, kBackwardData, kBackwardWeight };

struct ConvolutionAxis {
  std::int64_t in = 1, out = 1, kernel = 1;
  std::int64_t stride = 1, padding = 0, dilation = 1;

  /// Where tap `tap` of output `o` reads the input; -1 outside.
  std::int64_t source(std::int64_t o, std::int64_t tap) const {
    const std::int64_t i = o * stride + tap * dilation - padding;
    return i >= 0 && i < in ? i : -1;
  }
  /// The output whose tap `tap` reads input `i`; -1 where there is none.
  std::int64_t target(std::int64_t i, std::int64_t tap) const {
    const std::int64_t at = i + padding - tap * dilation;
    return at >= 0 && at % stride == 0 && at / stride < out ? at / stride : -1;
  }
};

struct ConvolutionShape {
  std::int64_t images = 1, groups = 1;
  std::int64_t in_channels = 1, out_channels = 1;  // of one group
  ConvolutionAxis height, width;

  std::int64_t in_plane() const { return height.in * width.in; }
  std::int64_t out_plane() const { return height.out * width.out; }
  std::int64_t taps() const { return height.kernel * width.kernel; }
};

class Epilogue;
struct ContractionLaunch;

// What is done with finished sums instead of writing them: blocks of [image, channel, pixel] go to
// the epilogue of a contraction, by the thread that added them up.
struct ConvolutionEpilogue {
  const Epilogue& epilogue;
  const ContractionLaunch& launch;
};

// The operands, contiguous; `result` is written whole, unless there is an epilogue (not for
// kBackwardWeight).
//   kForward: a = input, b = weight.  kBackwardData: a = gradient of the output, b = weight.
//   kBackwardWeight: a = gradient of the output, b = input.
struct ConvolutionCall {
  ConvolutionForm form = ConvolutionForm::kForward;
  ScalarType dtype = kFloat;  // f32 or f64
  ConvolutionShape shape;
  const void* a = nullptr;
  const void* b = nullptr;
  void* result = nullptr;
  const ConvolutionEpilogue* epilogue = nullptr;
};

/// One of `parts` shares of the work; shares may run at once. Bits do not depend on `parts`.
/// Under the interpreter by the reference, otherwise by generated tiles.
void run_convolution(const ConvolutionCall& call, int part, int parts);
/// By plain loops.
void run_convolution_reference(const ConvolutionCall& call, int part, int parts);
/// By tiles for a chosen instruction set, which the CPU must have.
void run_convolution_tiled(const ConvolutionCall& call, Isa isa, int part, int parts);

}  // namespace groove::kernels
