// An operator of a program's own, in one file: what it computes, its gradient, and a check. Once it
// is defined it is one of the registry: recorded, compiled, saved in graphs and differentiated as
// Groove's own, with the same bits in every mode and tier.
//
//   static const auto soft_clip = groove::define_elementwise_operator({
//       .name = "example.soft_clip",
//       .number_names = {"limit"},
//       .body = [](groove::Expr x, groove::Expr limit) { return limit * tanh(x / limit); },
//       .gradient =
//           [](const groove::OperatorGrad& g) {
//             const groove::Tensor part = g.output() / g.number(0);
//             return groove::Tensors{g.cotangent() * (1 - part * part)};
//           },
//       .saves_inputs = 0,
//       .saves_outputs = 1,
//   });
//
//   groove::Tensor y = soft_clip({x}, {2.0});
//
// An elementwise operator is fused with its neighbours. A host operator is a function over memory,
// which compiled loops call in its place. Operators stay defined until the process ends; all that
// is given here is called on any thread, also at once, and must give the same for the same.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "groove/expression.h"
#include "groove/jit/graph.h"

namespace groove {

struct Op;
struct Grad;
struct Signature;

/// An operator that was defined. Copies are the same one.
class CustomOperator {
 public:
  /// Its result. `numbers` change freely from call to call; shapes and code depend on `attributes`.
  /// A function around it that takes a Site as its last parameter and hands it on has errors told
  /// of its callers' lines. Throws groove::Error for operands that do not fit, and when there are
  /// several results.
  Tensor operator()(TensorList inputs, ArrayRef<Scalar> numbers = {}, IntArrayRef attributes = {},
                    Site site = Site::current()) const;
  /// All its results.
  Tensors results(TensorList inputs, ArrayRef<Scalar> numbers = {}, IntArrayRef attributes = {},
                  Site site = Site::current()) const;
  const std::string& name() const;
  /// How many it gives.
  int outputs() const;

 private:
  friend CustomOperator define_operator(Op op, Site site);
  explicit CustomOperator(const Op& op) : op_(&op) {}
  const Op* op_;
};

/// What a gradient is given. Values that the operator does not save throw groove::Error.
class OperatorGrad {
 public:
  explicit OperatorGrad(const Grad& grad) : grad_(grad) {}
  /// The gradient of a result: of its shape and dtype; zeros where nothing depends on it.
  Tensor cotangent(std::size_t output = 0) const;
  Tensor input(std::size_t index = 0) const;
  Tensor output(std::size_t index = 0) const;
  /// Is the gradient of that input wanted? Others may be left undefined.
  bool needs(std::size_t input) const;
  jit::TensorType input_type(std::size_t index = 0) const;
  Scalar number(std::size_t index = 0) const;
  std::int64_t attribute(std::size_t index = 0) const;

 private:
  const Grad& grad_;
};
/// One gradient per input, by ordinary tensor operators (so it is fused, too, and can have a
/// gradient). Of an elementwise operator each may have the shape of the result: it is then summed
/// to that of its input; dtypes are converted. Undefined: zero.
using OperatorGradient = std::function<Tensors(const OperatorGrad&)>;

// ---- elementwise operators ----

/// What an elementwise operator computes: a function of Exprs, those of the inputs and then those
/// of the numbers, eight at most. It gives an Expr, or a std::vector of one for each result. It is
/// called once for each kernel and never with values, so `if` cannot look at them: use select().
class ElementwiseBody {
 public:
  ElementwiseBody() = default;
  template <typename F>
  requires(!std::is_same_v<std::decay_t<F>, ElementwiseBody>) ElementwiseBody(F function)
      : operands_(operands_of<F>(std::make_index_sequence<1>())),
        function_([function = std::move(function)](const std::vector<Expr>& operands) {
          constexpr std::size_t count = operands_of<F>(std::make_index_sequence<1>());
          return call(function, operands, std::make_index_sequence<count>());
        }) {}
  std::size_t operands() const { return operands_; }
  std::vector<Expr> operator()(const std::vector<Expr>& operands) const {
    return function_(operands);
  }

 private:
  template <std::size_t>
  using ExprAt = Expr;
  template <typename F, std::size_t... I>
  static constexpr std::size_t operands_of(std::index_sequence<I...>) {
    static_assert(sizeof...(I) <= 8, "a body is a function of one to eight groove::Exprs");
    if constexpr (sizeof...(I) > 8 || std::is_invocable_v<const F&, ExprAt<I>...>)
      return sizeof...(I);
    else
      return operands_of<F>(std::make_index_sequence<sizeof...(I) + 1>());
  }
  template <typename F, std::size_t... I>
  static std::vector<Expr> call(const F& function, const std::vector<Expr>& operands,
                                std::index_sequence<I...>) {
    if constexpr (std::is_convertible_v<decltype(function(operands[I]...)), Expr>)
      return {function(operands[I]...)};
    else
      return function(operands[I]...);
  }

  std::size_t operands_ = 0;
  std::function<std::vector<Expr>(const std::vector<Expr>&)> function_;
};

/// Inputs broadcast; inputs and numbers promote to the dtype that the body computes in (16-bit
/// floats to f32, and each result is rounded once). Results have that dtype, or the one that the
/// body gives them: comparisons give kBool.
struct ElementwiseOperator {
  std::string name = {};  // letters, digits, `_` and `.`; "mine.name" keeps clear of Groove's own
  int version = 1;        // a saved graph names it; another meaning is another version
  std::vector<std::string> number_names = {};
  ElementwiseBody body = {};
  bool keeps_integers = false;               // else whole numbers and bool become the default dtype
  OperatorGradient gradient = {};            // empty: not differentiable
  std::uint32_t saves_inputs = 0xffffffffu;  // bit i: the gradient reads input i
  std::uint32_t saves_outputs = 0;
};
/// Throws groove::Error for a name that is taken or malformed, and for a body that is no expression
/// of floats (of any dtype where it keeps integers) or not the same twice. A dtype for which there
/// is no body is an error of the call.
CustomOperator define_elementwise_operator(ElementwiseOperator op, Site site = Site::current());

// ---- host operators ----

/// What the type rule of a host operator is given.
class OperatorTypes {
 public:
  explicit OperatorTypes(const Signature& signature) : signature_(signature) {}
  std::size_t inputs() const;
  jit::TensorType input(std::size_t index = 0) const;
  std::int64_t attribute(std::size_t index = 0) const;

 private:
  const Signature& signature_;
};

/// An operand of a host function: row-major memory without gaps.
class HostArray {
 public:
  HostArray(const Op& op, const Tensor& tensor, std::size_t index, bool is_output)
      : op_(op), tensor_(tensor), index_(index), is_output_(is_output) {}
  /// 16-bit floats are given, and taken, as f32.
  ScalarType dtype() const;
  IntArrayRef sizes() const;
  std::int64_t numel() const;
  /// data<const float>() of an input, data<float>() of an output, whose elements are not yet
  /// anything. Throws groove::Error for another type than dtype().
  template <typename T>
  T* data() const {
    return static_cast<T*>(data_as(dtype_of<std::remove_const_t<T>>, std::is_const_v<T>));
  }

 private:
  void* data_as(ScalarType dtype, bool is_const) const;
  const Op& op_;
  const Tensor& tensor_;
  std::size_t index_;
  bool is_output_;
};

/// One call of a host function. Inputs, outputs, numbers and attributes that are not there throw
/// groove::Error.
class HostCall {
 public:
  HostCall(const Signature& signature, TensorList inputs, TensorList outputs)
      : signature_(signature), inputs_(inputs), outputs_(outputs) {}
  std::size_t inputs() const { return inputs_.size(); }
  HostArray input(std::size_t index = 0) const;
  HostArray output(std::size_t index = 0) const;
  Scalar number(std::size_t index = 0) const;
  std::int64_t attribute(std::size_t index = 0) const;

 private:
  const Signature& signature_;
  TensorList inputs_, outputs_;
};

struct HostOperator {
  std::string name = {};  // as that of an elementwise operator
  int version = 1;
  int inputs = 1;  // -1: any number
  int outputs = 1;
  std::vector<std::string> attribute_names = {};  // whole numbers: axes, counts, flags
  std::vector<std::string> number_names = {};
  std::vector<ScalarType> dtypes = {kFloat, kDouble};  // of the first input; f32 takes 16-bit ones
  /// The results' types; that of the first input for each where it is empty. It throws
  /// groove::Error for inputs that do not fit.
  std::function<std::vector<jit::TensorType>(const OperatorTypes&)> type = {};
  /// Writes every element of every output, from nothing but the inputs, numbers and attributes, and
  /// calls no tensor operators. In eager mode, in which every loop begins, what it throws is thrown
  /// as groove::Error at the call's line. A compiled loop is past that line: there it ends the
  /// process.
  std::function<void(const HostCall&)> run = {};
  /// Refuses values: throws groove::Error, at the call's line and before anything ran. It is given
  /// the input that check_reads names, and no other. Compiled code is interrupted to look at it.
  std::function<void(const HostCall&)> check = {};
  int check_reads = 0;
  OperatorGradient gradient = {};
  std::uint32_t saves_inputs = 0xffffffffu;
  std::uint32_t saves_outputs = 0;
};
/// Throws groove::Error for a name that is taken or malformed, and where run is missing.
CustomOperator define_host_operator(HostOperator op, Site site = Site::current());

// ---- for its author ----

/// A call to check an operator with.
struct OperatorSample {
  Tensors inputs;
  std::vector<Scalar> numbers = {};
  std::vector<std::int64_t> attributes = {};
};
/// Calls the operator on each sample by the interpreter and by every tier that this machine has, in
/// eager mode and compiled between neighbours, on contiguous and strided inputs, and compares the
/// bits; its gradient likewise, and with central differences in f64 where it takes f64 (each
/// element of the gradient to 1e-6 of its size, and of 1). Throws groove::Error that tells the
/// first difference. No other thread may use Groove meanwhile.
void check_operator(const CustomOperator& op, const std::vector<OperatorSample>& samples,
                    Site site = Site::current());

}  // namespace groove
