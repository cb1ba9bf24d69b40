// How an op becomes kernels: one of a closed set of lowerings, the content of Op::lowering.
#pragma once

#include <functional>
#include <variant>
#include <vector>

#include "kernels/contraction/contraction.h"
#include "kernels/expr.h"
#include "src/core/op.h"

namespace groove::kernels {

// What a scalar body is given. Inputs are converted to the compute dtype unless their bit in
// `raw_inputs` is set; numbers are parameters in the compute dtype unless in `raw_numbers` (then
// i64 for integers, f64 for reals).
struct Body {
  Builder& builder;
  const Signature& signature;
  ScalarType compute;
  std::vector<Expr> inputs;
  std::vector<Expr> numbers;
  // i64 flat row-major index of the output element (asks for a one-dimensional contiguous launch)
  std::function<Expr()> flat_index;
  const Attrs& attrs() const { return signature.attrs; }
  AttrReader attr() const { return signature.attr(); }
};
using Exprs = std::vector<Expr>;

// One expression per output over broadcast inputs; results are converted to the output dtypes. The
// same whatever sizes the operands have, and whatever lists are among the attributes: what a body
// is, is kept for all of them.
struct ElementwiseLowering {
  std::function<Exprs(Body&)> body;
  std::uint32_t raw_inputs = 0;
  std::uint32_t raw_numbers = 0;
  bool uses_flat_index = false;
  // The body reads builder.index(0) as the index along the last axis of the output: axis 0 of the
  // launch must be that axis, neither merged with others nor left out when its size is 1.
  bool uses_last_index = false;
};

// Reduction along the axes in attribute field 0 (kInts, already non-negative and sorted; empty
// list = all axes) with field 1 (kBool) = keepdim.
struct ReductionLowering {
  std::vector<Prim> reductions;  // one kReduce… per reduced value
  // values to reduce from the converted input: one per reduction (default: the input for each)
  std::function<Exprs(Body&)> before = {};
  // results from the reduced values; `count` is the number of reduced elements as a parameter in
  // the compute dtype (default: the reduced values themselves)
  std::function<Exprs(Body&, const Exprs& reduced, Expr count)> after = {};
};

// out[i0..] = input[i0.., index[..] at `axis`, ..]: index_select and gather. Attribute field 0 is
// the axis (non-negative). Input 0 is the source, input 1 the index (i64 or i32).
struct GatherLowering {
  bool index_is_full = false;  // gather: index has the output's shape; else it is one-dimensional
};

// The inputs one after the other along the axis in attribute field 0.
struct ConcatenateLowering {};

// Input 0 with a strided region replaced by input 1: attributes sizes, strides, offset of the
// region in the contiguous memory of the result. What the tracer makes of a write through a view.
struct OverwriteLowering {};

// A product of two matrices with optional batch axes and an epilogue expression.
struct ContractionLowering {
  // Views of the operands as [batch…, m, k] and [batch…, k, n]: permutations given by flags.
  bool transpose_b = false;  // linear: weight is [n, k]
  bool has_bias = false;     // input 2, broadcast along m, may be undefined
};

// Ordinary tensor code in terms of other ops, run through the dispatcher.
struct CompositeLowering {
  std::function<Tensors(const Signature&, ArrayRef<Tensor> inputs)> compose;
};

// Host code over real contiguous memory: `run`, on one thread, or `run_part`, called for each of
// `parts` shares of the work, perhaps at once on different threads. Bits must not depend on parts.
struct OpaqueLowering {
  std::function<void(const Signature&, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs)> run = {};
  std::function<void(const Signature&, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs, int part,
                     int parts)>
      run_part = {};
  // Work in nanoseconds on one thread, for scheduling (default: from the bytes touched).
  std::function<double(const Signature&)> nanoseconds = {};
  // The code knows 16-bit floats (it moves elements, or sums them in f32). Otherwise it is given
  // f32 copies of them and its results are rounded.
  bool takes_halves = false;
  // `run` opens parallel regions of its own, so a program calls it outside its own.
  bool has_regions = false;
  // Promised by a program: what it throws once the program is past its call ends the process.
  bool never_throws = false;
};

struct Lowering {
  std::variant<ElementwiseLowering, ReductionLowering, GatherLowering, ConcatenateLowering,
               ContractionLowering, CompositeLowering, OpaqueLowering, OverwriteLowering>
      how;
};

template <typename How>
std::shared_ptr<const Lowering> lower(How how) {
  return std::make_shared<const Lowering>(Lowering{std::move(how)});
}

/// One-thread time below which host code is not split, and above which it is worth it.
inline constexpr double kSerialNanoseconds = 3000;
/// Time of host code on one thread, by its own account or from the bytes it touches.
double host_nanoseconds(const OpaqueLowering& how, const Signature& signature,
                        const TypeResult& types);

// Shorthands for the op files.
std::shared_ptr<const Lowering> unary(Expr (*body)(Expr));
std::shared_ptr<const Lowering> binary(Expr (*body)(Expr, Expr));

}  // namespace groove::kernels
