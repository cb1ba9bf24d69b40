// The op record: all that is known about one operator, as data. Each is defined in its own file
// kernels/ops/<name>.cpp and registers itself. Passes look at `kind`, never at a name.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "groove/tensor.h"
#include "src/core/small_vector.h"
#include "src/core/tensor_impl.h"

namespace groove {

namespace kernels {
struct Lowering;  // kernels/lowering.h
}

enum class OpKind : std::uint8_t {
  kElementwise,
  kView,      // an IndexMap that eager mode does by metadata alone
  kIndexMap,  // output index -> input index, possibly through an index tensor
  kReduction,
  kContraction,
  kComposite,
  kOpaque,
  kBig,  // backward, zero_grad, step: one recorded call, whose expansion is other ops
};

// ---- attributes: structure, as opposed to numbers ----

enum class AttrType : std::uint8_t {
  kInt,
  kInts,
  kBool,
  kDtype,
  kDouble,
  kGraph,  // the number of an interned graph (src/core/subgraph.h)
};
struct AttrField {
  const char* name;
  AttrType type;
};

// Values in the order of Op::attributes; lists are preceded by their length. One flat run of
// words, so equality and hashing are those of the words.
class Attrs {
 public:
  Attrs() = default;
  Attrs& add(std::int64_t value) {
    words_.push_back(value);
    return *this;
  }
  Attrs& add(IntArrayRef values) {
    words_.push_back(static_cast<std::int64_t>(values.size()));
    words_.append(values.data(), values.size());
    return *this;
  }
  Attrs& add(ScalarType dtype) { return add(static_cast<std::int64_t>(dtype)); }
  Attrs& add_double(double value);
  const SmallVector<std::int64_t, 8>& words() const { return words_; }
  bool operator==(const Attrs&) const = default;

 private:
  SmallVector<std::int64_t, 8> words_;
};

struct Op;

// Reads the fields of an Attrs by position in Op::attributes.
class AttrReader {
 public:
  AttrReader(const Op& op, const Attrs& attrs) : op_(op), attrs_(attrs) {}
  std::int64_t integer(std::size_t field) const;
  bool boolean(std::size_t field) const { return integer(field) != 0; }
  ScalarType dtype(std::size_t field) const { return static_cast<ScalarType>(integer(field)); }
  IntArrayRef integers(std::size_t field) const;
  double real(std::size_t field) const;

 private:
  std::size_t position(std::size_t field) const;
  const Op& op_;
  const Attrs& attrs_;
};

// ---- types ----

struct Type {
  ScalarType dtype = kFloat;
  Shape sizes;
  bool operator==(const Type&) const = default;
};

// What a body computes in. The 16-bit floats have no arithmetic: a rule that names one means f32,
// with one rounding where the result is converted to the output's dtype.
class ComputeDtype {
 public:
  constexpr ComputeDtype(ScalarType dtype = kFloat)
      : dtype_(dtype == kHalf || dtype == kBFloat16 ? kFloat : dtype) {}
  constexpr operator ScalarType() const { return dtype_; }

 private:
  ScalarType dtype_;
};

struct TypeResult {
  std::vector<Type> outputs;
  ComputeDtype compute;  // dtype inputs are converted to before the body
};

// What a type rule, a lowering or a check is given.
struct Signature {
  const Op& op;
  ArrayRef<Type> inputs;  // undefined optional inputs have dtype Undefined
  const Attrs& attrs;
  ArrayRef<Scalar> numbers;
  AttrReader attr() const { return AttrReader(op, attrs); }
};
using TypeRule = std::function<TypeResult(const Signature&)>;  // throws groove::Error

/// Output geometry of a view op over an input geometry; `start` numbers are read from the
/// signature. Throws groove::Error when the strides do not allow the view.
using ViewRule = std::function<Geometry(const Geometry& input, const Signature&)>;

// ---- values ----

// Every element of a tensor is NaN or lies in [low, high].
struct ValueRange {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool holds(const ValueRange& other) const { return low <= other.low && other.high <= high; }
};
/// All that a dtype holds.
ValueRange values_of(ScalarType dtype);
/// Where elements of each result lie, given where those of the inputs do. It may be wider than the
/// truth, never narrower.
using RangeRule =
    std::function<ValueRange(const Signature&, ArrayRef<ValueRange> inputs, int output)>;
/// Where the elements of the input that `check` reads may lie for it to pass; where their producer
/// keeps them there, nobody needs to look.
using AllowedRule = std::function<ValueRange(const Signature&)>;

// ---- gradients ----

// What a gradient rule is given: ordinary tensors. Only inputs and outputs that the op declares
// as saved may be read; their types are always known.
struct Grad {
  const Op& op;
  const Attrs& attrs;
  ArrayRef<Scalar> numbers;
  ArrayRef<Tensor> inputs;      // saved ones; others undefined
  ArrayRef<Tensor> outputs;     // saved ones; others undefined
  ArrayRef<Tensor> cotangents;  // per output; undefined means zero
  ArrayRef<Type> input_types;
  ArrayRef<Type> output_types;
  ArrayRef<bool> needs;  // per input: is its gradient wanted
  // Of ops that accumulate, per input: the sum that its gradient is added to, undefined for none.
  ArrayRef<Tensor> accumulated = {};
  // Asked before a rule reads a saved value, counted from the inputs on: one that was overwritten
  // since is an error where it is needed, and only there.
  void (*before_read)(const void* saved, std::size_t place) = nullptr;
  const void* saved = nullptr;
  const Tensor& cotangent() const { return cotangents[0]; }
  const Tensor& input(std::size_t i) const {
    if (before_read) before_read(saved, i);
    return inputs[i];
  }
  const Tensor& output(std::size_t i = 0) const {
    if (before_read) before_read(saved, inputs.size() + i);
    return outputs[i];
  }
  Tensors all_inputs() const {
    for (std::size_t i = 0; i < inputs.size(); ++i) input(i);
    return Tensors(inputs.begin(), inputs.end());
  }
  Tensors all_outputs() const {
    for (std::size_t i = 0; i < outputs.size(); ++i) output(i);
    return Tensors(outputs.begin(), outputs.end());
  }
  AttrReader attr() const { return AttrReader(op, attrs); }
};
// What the op is for complex tensors: other ops, of the real tensors behind them. The call is never
// in place and has at least one complex input.
struct Call;  // src/core/dispatch.h
using ComplexRule = Tensor (*)(const Call& call);

// What autocast makes of floating operands, but for float64: the short dtype that it has been told,
// for products; float32, for what sums up many or squares; or nothing.
enum class Precision : std::uint8_t { kAsGiven, kShort, kFloat };

/// One gradient per input, undefined where not needed or zero.
using GradientRule = std::function<Tensors(const Grad&)>;

// ---- tests ----

// A dense array for reference implementations: values as double, integers exact up to 2^53.
struct Reference {
  Type type;
  std::vector<double> values;  // row-major
};
using ReferenceRule =
    std::function<std::vector<Reference>(const Signature&, const std::vector<Reference>& inputs)>;
struct Domain {
  double low = -2.0, high = 2.0;
};
struct Sample {  // one call for the registry's test; shapes drive it
  std::vector<Type> inputs;
  Attrs attrs;
  std::vector<Scalar> numbers;
};

// ---- the record ----

struct Op {
  std::string name = {};
  int version = 1;
  OpKind kind = OpKind::kElementwise;
  int inputs = 1;   // -1: any number
  int outputs = 1;  // -1: as many as attribute field 0 says
  std::vector<AttrField> attributes = {};
  std::vector<const char*> number_names = {};
  TypeRule type = {};
  ViewRule view = {};  // kView
  std::shared_ptr<const kernels::Lowering> lowering = {};
  GradientRule gradient = {};      // empty: not differentiable
  std::uint32_t saves_inputs = 0;  // bit i: the gradient reads input i; bit 31: all from there on
  std::uint32_t saves_outputs = 0;
  std::uint32_t lacks_gradient = 0;  // bit i: none is known for input i; the rule throws for it
  // The gradient rule adds to `accumulated` itself and gives the sums: an op that stands for many.
  bool accumulates = false;
  ComplexRule complex = nullptr;  // none: complex inputs are an error
  Precision autocast = Precision::kAsGiven;
  std::function<void(const Signature&, ArrayRef<Tensor>)> check =
      {};                    // on values; throws groove::Error
  int check_reads = 0;       // the input whose values the check reads; real before it
  AllowedRule allowed = {};  // empty: the check always looks
  RangeRule range = {};      // empty: views keep their input's, others anything their dtype holds
  // In-place form: output k is written to input mutates[k]. Default: output 0 to input 0.
  std::vector<int> mutates = {0};
  bool has_inplace = true;
  bool writes_unnoticed = false;  // in place, to mutates[0]: as through data()
  bool is_random = false;

  // tests
  ReferenceRule reference = {};
  Domain domain = {};
  std::vector<ScalarType> dtypes = {};  // of the first input; what the registry's test walks
  std::function<std::vector<Sample>(ScalarType)> samples = {};
  double tolerance_ulp = 4;  // of the reference comparison in the output dtype

  int id = -1;  // interned at registration; never leaves the process
};

/// Of a call with these attributes.
inline std::size_t output_count(const Op& op, const Attrs& attrs) {
  return static_cast<std::size_t>(op.outputs >= 0 ? op.outputs : attrs.words()[0]);
}
inline bool is_saved(std::uint32_t mask, std::size_t index) {
  return mask >> (index < 31 ? index : 31) & 1;
}

/// Adds an op to the registry; the returned record lives for ever.
const Op& define(Op op);
/// The same for names that programs choose: null when there is one of this name, or no room.
const Op* define_new(Op op);
const Op* find_op(const std::string& name);
ArrayRef<const Op*> all_ops();

}  // namespace groove
