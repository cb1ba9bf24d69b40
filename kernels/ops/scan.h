// Scans: what runs along one axis element by element, in one order. They are host code, split over
// the lines beside each other. `reverse` runs from the end.
#pragma once

#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"

namespace groove {

std::vector<AttrField> scan_attributes();  // dim, reverse
Attrs scan_attrs(const char* op, const Tensor& self, std::int64_t dim, bool reverse = false);
/// All operands as input 0; throws for bool and for an axis that is not there.
TypeResult scan_type(const Signature& signature);
std::vector<Sample> scan_samples(ScalarType dtype, std::size_t operands = 1);
/// From one line of each operand, in the order of the scan.
ReferenceRule scan_reference(
    std::function<std::vector<double>(const std::vector<std::vector<double>>& lines)> function);
/// The call of cumsum and cumprod; integers and bool run as i64 unless a dtype is given, 0-d
/// tensors as lines of one.
Tensor scan(const Op& op, Arg self, std::int64_t dim, std::optional<ScalarType> dtype);
/// x one place on along an axis (back where not `forward`); the place left free holds `fill`.
Tensor shifted(const Tensor& x, std::int64_t dim, bool forward, double fill);
/// The products of all elements before (after) each along an axis.
Tensor product_before(const Tensor& x, std::int64_t dim, bool after);

// h[j] = a[j] h[j - 1] + b[j], with h[-1] = 0: the linear recurrence that gradients of scans are.
Tensor linear_recurrence(const Tensor& a, const Tensor& b, std::int64_t dim, bool reverse);

namespace scans {

struct Lines {  // of a contiguous shape: [outer, count, inner]
  std::int64_t outer = 1, count = 1, inner = 1;
};
Lines lines_of(IntArrayRef sizes, std::int64_t dim);

/// kLines lines from `line` on that each lie whole in memory: as many steps at a time, as no step
/// of a line begins before the last one has ended. They are moved in pieces, as lines whose length
/// is a power of two would all lie in the same places of the cache.
template <int kLines, typename T, std::size_t kOperands, typename Step>
void run_whole_lines(std::int64_t count, std::int64_t line, bool reverse,
                     const T* const (&operands)[kOperands], T* result, double start,
                     const Step& step) {
  constexpr std::int64_t kPiece = 64;
  T pieces[kOperands][kLines][kPiece + 16], carried[kLines];
  std::fill_n(carried, kLines, static_cast<T>(start));
  for (std::int64_t done = 0; done < count; done += kPiece) {
    const std::int64_t width = std::min(kPiece, count - done);
    const std::int64_t first = line * count + (reverse ? count - done - width : done);
    for (std::size_t k = 0; k < kOperands; ++k)
      for (int i = 0; i < kLines; ++i)
        std::copy_n(operands[k] + first + i * count, width, pieces[k][i]);
    for (std::int64_t n = 0; n < width; ++n) {
      const std::int64_t j = reverse ? width - 1 - n : n;
      for (int i = 0; i < kLines; ++i) {
        if constexpr (kOperands == 1)
          carried[i] = step(carried[i], pieces[0][i][j]);
        else
          carried[i] = step(carried[i], pieces[0][i][j], pieces[1][i][j]);
        pieces[0][i][j] = carried[i];
      }
    }
    for (int i = 0; i < kLines; ++i) std::copy_n(pieces[0][i], width, result + first + i * count);
  }
}

/// step(carried, values…) gives the next carried value, which is also the result. T is unsigned
/// for integers, which wrap.
template <typename T, std::size_t kOperands, typename Step>
void run_lines(const Lines& lines, bool reverse, const T* const (&operands)[kOperands], T* result,
               double start, int part, int parts, const Step& step) {
  constexpr std::int64_t kBlock = 64;  // lines side by side, so that memory is walked in order
  const std::int64_t all = lines.outer * lines.inner;
  std::int64_t line = all * part / parts;
  const std::int64_t end = all * (part + 1) / parts;
  constexpr int kTogether = 8;
  while (lines.inner == 1 && line < end) {
    const bool are_together = end - line >= kTogether;
    const auto run = are_together ? &run_whole_lines<kTogether, T, kOperands, Step>
                                  : &run_whole_lines<1, T, kOperands, Step>;
    run(lines.count, line, reverse, operands, result, start, step);
    line += are_together ? kTogether : 1;
  }
  while (line < end) {
    const std::int64_t outer = line / lines.inner, first = line % lines.inner;
    const std::int64_t width = std::min({kBlock, lines.inner - first, end - line});
    T carried[kBlock];
    std::fill_n(carried, width, static_cast<T>(start));
    for (std::int64_t n = 0; n < lines.count; ++n) {
      const std::int64_t j = reverse ? lines.count - 1 - n : n;
      const std::int64_t at = (outer * lines.count + j) * lines.inner + first;
      for (std::int64_t i = 0; i < width; ++i) {
        if constexpr (kOperands == 1)
          carried[i] = step(carried[i], operands[0][at + i]);
        else
          carried[i] = step(carried[i], operands[0][at + i], operands[1][at + i]);
        result[at + i] = carried[i];
      }
    }
    line += width;
  }
}

template <std::size_t kOperands, typename Step>
void run(const Signature& s, ArrayRef<Tensor> inputs, const Tensor& output, double start, int part,
         int parts, const Step& step) {
  const Lines lines = lines_of(s.inputs[0].sizes, s.attr().integer(0));
  const bool reverse = s.attr().boolean(1);
  const auto of_type = [&]<typename T>(T) {
    const T* operands[kOperands];
    for (std::size_t i = 0; i < kOperands; ++i)
      operands[i] = static_cast<const T*>(inputs[i].impl()->data());
    run_lines(lines, reverse, operands, static_cast<T*>(output.impl()->data()), start, part, parts,
              step);
  };
  switch (s.inputs[0].dtype) {
    case kFloat:
      return of_type(float());
    case kDouble:
      return of_type(double());
    default:
      return of_type(std::uint64_t());
  }
}

}  // namespace scans

/// See scans::run_lines.
template <std::size_t kOperands, typename Step>
std::shared_ptr<const kernels::Lowering> scan_lowering(double start, Step step) {
  return kernels::lower(kernels::OpaqueLowering{
      .run_part = [start, step](const Signature& s, ArrayRef<Tensor> inputs,
                                ArrayRef<Tensor> outputs, int part, int parts) {
        scans::run<kOperands>(s, inputs, outputs[0], start, part, parts, step);
      }});
}

}  // namespace groove
