// Operators that programs define: their functions become the rules of an ordinary record, which
// check what these give.
#include "groove/custom_operator.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <new>

#include "groove/ops/creation.h"
#include "kernels/ops/reference.h"
#include "kernels/ops/rules.h"
#include "src/core/half.h"
#include "src/core/keep_loaded.h"

namespace groove {
namespace {

bool is_name(const std::string& name) {
  const auto is_letter = [](char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; };
  const auto is_fine = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  if (name.empty() || !is_letter(name.front()) || name.back() == '.') return false;
  for (std::size_t i = 1; i < name.size(); ++i)
    if (!is_fine(name[i]) && (name[i] != '.' || name[i - 1] == '.')) return false;
  return true;
}

void check_names(const std::string& op, const std::vector<std::string>& names) {
  GROOVE_CHECK(is_name(op),
               "define: \"{}\" is no name of an operator; letters, digits, `_` and single `.`, a "
               "letter first",
               op);
  for (const std::string& name : names)
    GROOVE_CHECK(is_name(name), "define: \"{}\" of {} is no name; letters, digits and `_`", name,
                 op);
}

// What a program's function throws, as an error of the operator.
template <typename Function>
auto guarded(const std::string& op, const char* part, const Function& function) {
  try {
    return function();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(fmt::format("the {} of {} threw: {}", part, op, error.what()));
  }
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

jit::TensorType public_type(const Type& type) {
  return {type.dtype, {type.sizes.begin(), type.sizes.end()}};
}

template <typename List>
const auto& at(const Op& op, const char* what, const List& list, std::size_t index) {
  if (index >= list.size())
    throw Error(fmt::format("{}: there is no {} {}, only {}", op.name, what, index, list.size()));
  return list[index];
}

std::int64_t attribute_of(const Op& op, const Attrs& attrs, std::size_t index) {
  return at(op, "attribute", attrs.words(), index);
}

// ---- gradients ----

GradientRule gradient_rule(const std::string& name, const OperatorGradient& gradient,
                           bool broadcasts) {
  if (!gradient) return {};
  return [&name, &gradient, broadcasts](const Grad& g) {
    Tensors result = guarded(name, "gradient", [&] { return gradient(OperatorGrad(g)); });
    GROOVE_CHECK(result.size() == g.inputs.size(),
                 "the gradient of {} gives {} tensors for {} inputs; give one for each, undefined "
                 "ones for zero",
                 name, result.size(), g.inputs.size());
    for (std::size_t i = 0; i < result.size(); ++i) {
      if (!result[i].defined()) continue;
      if (!g.needs[i]) {
        result[i] = Tensor();
        continue;
      }
      const Type own = type_of(result[i]);
      GROOVE_CHECK(own.sizes == g.input_types[i].sizes ||
                       (broadcasts && own.sizes == g.output_types[0].sizes),
                   "the gradient of {} for input {} has shape {}, the input {}", name, i,
                   to_string(own.sizes), to_string(g.input_types[i].sizes));
      result[i] = reduced_to(result[i], g.input_types[i]);
    }
    return result;
  };
}

// ---- elementwise ----

// What a body makes of operands of one dtype: the dtypes of its results, or why there are none.
struct BodyTypes {
  std::vector<ScalarType> outputs;
  std::string problem;
};

// Throws without telling the tracer: bodies are tried with dtypes that they need not have.
kernels::Kernel kernel_of(const ElementwiseBody& body, ScalarType dtype,
                          std::vector<ScalarType>& outputs) {
  kernels::Builder builder;
  std::vector<Expr> operands;
  for (std::size_t i = 0; i < body.operands(); ++i)
    operands.push_back(builder.load(dtype, kernels::StrideClass::kContiguous));
  outputs.clear();
  for (const Expr& result : body(operands)) {
    if (!result.defined() || &result.builder() != &builder)
      throw Error("a result is none of the expressions of this call");
    outputs.push_back(result.dtype());
    builder.store(result.dtype(), kernels::StrideClass::kContiguous, result);
  }
  if (outputs.empty()) throw Error("there is no result");
  kernels::Kernel kernel = builder.take();
  const std::string problem = kernels::verify(kernel);
  if (!problem.empty()) throw Error(problem);
  return kernel;
}

BodyTypes types_of_body(const std::string& name, const ElementwiseBody& body, ScalarType dtype) {
  BodyTypes types;
  try {
    return guarded(name, "body", [&] {
      const kernels::Kernel first = kernel_of(body, dtype, types.outputs);
      if (first != kernel_of(body, dtype, types.outputs))
        throw Error("it is not the same when it is called again");
      return types;
    });
  } catch (const Error& error) {
    types.problem = error.msg();
    return types;
  }
}

// An operator lives for ever, and with it what it was made of.
struct Elementwise {
  explicit Elementwise(ElementwiseOperator given) : own(std::move(given)) {
    for (const ScalarType dtype : all_dtypes())
      if (ComputeDtype(dtype) == dtype) bodies[dtype] = types_of_body(own.name, own.body, dtype);
  }
  TypeResult type(const Signature& signature) const {
    TypeResult result = own.keeps_integers ? promoted(signature) : promoted_floating(signature);
    const BodyTypes& body = bodies.at(result.compute);
    GROOVE_CHECK_AS(NotImplementedError, body.problem.empty(), "{}: not defined for {} tensors: {}",
                    own.name, name(result.outputs[0].dtype), body.problem);
    const Type common = result.outputs[0];
    result.outputs.clear();
    for (const ScalarType dtype : body.outputs)
      result.outputs.push_back({dtype == result.compute ? common.dtype : dtype, common.sizes});
    return result;
  }
  /// A body that there is.
  const BodyTypes& any() const {
    const BodyTypes& usual = bodies.at(kFloat);
    if (usual.problem.empty() || !own.keeps_integers) return usual;
    for (const auto& [dtype, body] : bodies)
      if (body.problem.empty()) return body;
    return usual;
  }

  const ElementwiseOperator own;
  std::map<ScalarType, BodyTypes> bodies;  // by the dtypes that bodies compute in
};

kernels::Exprs emit(const Elementwise& op, const kernels::Body& body) {
  std::vector<Expr> operands = body.inputs;
  operands.insert(operands.end(), body.numbers.begin(), body.numbers.end());
  return op.own.body(operands);
}

// ---- host functions ----

// While a host function runs, tensor operators of its thread are errors.
class NoOperators : DispatchOverride {
 public:
  explicit NoOperators(const Op& op)
      : DispatchOverride(
            [](void* own, const Call& call, Tensor*) {
              throw Error(
                  fmt::format("the host function of {} calls {}; it may not call tensor "
                              "operators",
                              static_cast<const Op*>(own)->name, call.op->name));
            },
            const_cast<Op*>(&op)) {}
};

TypeResult host_type(const HostOperator& own, const Signature& signature) {
  check_defined(signature);
  const ScalarType given = signature.inputs[0].dtype;
  const ScalarType seen = ComputeDtype(given);
  GROOVE_CHECK_AS(NotImplementedError,
                  std::find(own.dtypes.begin(), own.dtypes.end(), seen) != own.dtypes.end(),
                  "{}: not defined for {} tensors", own.name, name(given));
  TypeResult result{{}, given};
  if (!own.type) {
    result.outputs.assign(static_cast<std::size_t>(own.outputs), signature.inputs[0]);
    return result;
  }
  const std::vector<jit::TensorType> types =
      guarded(own.name, "type rule", [&] { return own.type(OperatorTypes(signature)); });
  GROOVE_CHECK(types.size() == static_cast<std::size_t>(own.outputs),
               "the type rule of {} gives {} types for {} results", own.name, types.size(),
               own.outputs);
  const std::vector<ScalarType> known = all_dtypes();
  for (const jit::TensorType& type : types) {
    GROOVE_CHECK(std::find(known.begin(), known.end(), type.dtype) != known.end(),
                 "the type rule of {} gives a result of no dtype", own.name);
    for (const std::int64_t size : type.sizes)
      GROOVE_CHECK(size >= 0, "the type rule of {} gives {}, which has a size below 0", own.name,
                   to_string(IntArrayRef(type.sizes)));
    result.outputs.push_back({type.dtype, Shape(IntArrayRef(type.sizes))});
  }
  return result;
}

kernels::OpaqueLowering host_code(const HostOperator& own) {
  return {
      .run =
          [&own](const Signature& signature, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs) {
            const NoOperators none(signature.op);
            guarded(own.name, "host function",
                    [&] { own.run(HostCall(signature, inputs, outputs)); });
          },
      .never_throws = true};
}

// As a host function sees it: row-major, 16-bit floats as f32. It may lie anyhow.
Tensor dense_copy(const Tensor& tensor) {
  const TensorImpl& from = *tensor.impl();
  const ScalarType dtype = from.dtype, seen = ComputeDtype(dtype);
  if (from.is_contiguous && seen == dtype) return tensor;
  Tensor copy = make_empty(from.geometry.sizes, seen);
  const std::size_t size = element_size(dtype), width = element_size(seen);
  char* to = static_cast<char*>(copy.impl()->data());
  for_each_index(from.geometry.sizes, [&](const Shape& index) {
    std::int64_t offset = from.geometry.offset;
    for (std::size_t axis = 0; axis < index.size(); ++axis)
      offset += index[axis] * from.geometry.strides[axis];
    const char* at = static_cast<const char*>(from.storage->data) + offset * std::int64_t(size);
    if (seen == dtype) {
      std::memcpy(to, at, size);
    } else {
      std::uint16_t bits = 0;
      std::memcpy(&bits, at, sizeof bits);
      const auto value =
          static_cast<float>(dtype == kHalf ? half_value(bits) : bfloat16_value(bits));
      std::memcpy(to, &value, sizeof value);
    }
    to += width;
  });
  return copy;
}

std::function<void(const Signature&, ArrayRef<Tensor>)> value_check(const HostOperator& own) {
  if (!own.check) return {};
  return [&own](const Signature& signature, ArrayRef<Tensor> inputs) {
    const auto reads = static_cast<std::size_t>(own.check_reads);
    Tensors seen(inputs.size());
    seen[reads] = dense_copy(inputs[reads]);
    // It looks anew in each replay, so numbers that it reads are no part of a loop's structure.
    std::vector<Scalar> numbers;
    for (const Scalar& number : signature.numbers) numbers.push_back(number.with_origin(-1));
    const Signature plain{signature.op, signature.inputs, signature.attrs, numbers};
    const NoOperators none(signature.op);
    guarded(own.name, "check", [&] { own.check(HostCall(plain, seen, {})); });
  };
}

Tensors call_all(const Op& op, TensorList inputs, ArrayRef<Scalar> numbers, IntArrayRef attributes,
                 Site site) {
  const CallFrame frame(site, op.name.c_str());
  GROOVE_CHECK(op.inputs < 0 ? !inputs.empty() : inputs.size() == std::size_t(op.inputs),
               "{}: takes {} tensors, not {}", op.name, op.inputs < 0 ? 1 : op.inputs,
               inputs.size());
  GROOVE_CHECK(numbers.size() == op.number_names.size(), "{}: takes {} numbers, not {}", op.name,
               op.number_names.size(), numbers.size());
  GROOVE_CHECK(attributes.size() == op.attributes.size(), "{}: takes {} attributes, not {}",
               op.name, op.attributes.size(), attributes.size());
  Attrs attrs;
  for (const std::int64_t attribute : attributes) attrs.add(attribute);
  Tensors outputs(static_cast<std::size_t>(op.outputs));
  dispatch(Call{&op, inputs, &attrs, numbers, site, false, op.name.c_str()}, outputs.data());
  return outputs;
}

}  // namespace

CustomOperator define_operator(Op op, Site site) {
  const std::string name = op.name;
  const Op* const record = define_new(std::move(op));
  GROOVE_CHECK(record,
               "define: there is an operator {} already, or no room for more; choose another name, "
               "such as \"mine.{}\"",
               name, name);
  keep_loaded(site.file_name());
  return CustomOperator(*record);
}

CustomOperator define_elementwise_operator(ElementwiseOperator op, Site site) {
  const CallFrame frame(site);
  check_names(op.name, op.number_names);
  const std::size_t numbers = op.number_names.size();
  GROOVE_CHECK(op.body.operands() > numbers,
               "define: the body of {} is a function of {} expressions, which leaves no input "
               "beside {} numbers",
               op.name, op.body.operands(), numbers);
  auto made = std::make_unique<const Elementwise>(std::move(op));
  const Elementwise& kept = *made;
  const ElementwiseOperator& own = kept.own;
  const BodyTypes& body = kept.any();
  GROOVE_CHECK(body.problem.empty(), "define: the body of {} is no expression: {}", own.name,
               body.problem);
  const CustomOperator result = define_operator(
      {
          .name = own.name,
          .version = own.version,
          .inputs = static_cast<int>(own.body.operands() - numbers),
          .outputs = static_cast<int>(body.outputs.size()),
          .number_names = pointers_to(own.number_names),
          .type = [&kept](const Signature& signature) { return kept.type(signature); },
          .lowering = kernels::lower(kernels::ElementwiseLowering{
              .body = [&kept](kernels::Body& body) { return emit(kept, body); }}),
          .gradient = gradient_rule(own.name, own.gradient, true),
          .saves_inputs = own.gradient ? own.saves_inputs : 0,
          .saves_outputs = own.gradient ? own.saves_outputs : 0,
          .has_inplace = false,
      },
      site);
  static_cast<void>(made.release());
  return result;
}

CustomOperator define_host_operator(HostOperator op, Site site) {
  const CallFrame frame(site);
  check_names(op.name, op.number_names);
  check_names(op.name, op.attribute_names);
  GROOVE_CHECK(op.run, "define: {} has no host function; set run", op.name);
  GROOVE_CHECK(op.inputs != 0 && op.inputs >= -1 && op.outputs > 0,
               "define: {} has {} inputs and {} outputs; it needs one of each at least", op.name,
               op.inputs, op.outputs);
  GROOVE_CHECK(op.check_reads >= 0 && (op.inputs < 0 || op.check_reads < op.inputs),
               "define: {} has no input {} for its check to read", op.name, op.check_reads);
  auto made = std::make_unique<const HostOperator>(std::move(op));
  const HostOperator& own = *made;
  std::vector<AttrField> attributes;
  for (const std::string& name : own.attribute_names)
    attributes.push_back({name.c_str(), AttrType::kInt});
  const CustomOperator result = define_operator(
      {
          .name = own.name,
          .version = own.version,
          .kind = OpKind::kOpaque,
          .inputs = own.inputs,
          .outputs = own.outputs,
          .attributes = std::move(attributes),
          .number_names = pointers_to(own.number_names),
          .type = [&own](const Signature& signature) { return host_type(own, signature); },
          .lowering = kernels::lower(host_code(own)),
          .gradient = gradient_rule(own.name, own.gradient, false),
          .saves_inputs = own.gradient ? own.saves_inputs : 0,
          .saves_outputs = own.gradient ? own.saves_outputs : 0,
          .check = value_check(own),
          .check_reads = own.check_reads,
          .has_inplace = false,
      },
      site);
  static_cast<void>(made.release());
  return result;
}

// ---- what a program's functions are given ----

Tensor CustomOperator::operator()(TensorList inputs, ArrayRef<Scalar> numbers,
                                  IntArrayRef attributes, Site site) const {
  GROOVE_CHECK_AT(site, op_->outputs == 1, "{}: gives {} results; call results()", op_->name,
                  op_->outputs);
  return call_all(*op_, inputs, numbers, attributes, site)[0];
}
Tensors CustomOperator::results(TensorList inputs, ArrayRef<Scalar> numbers, IntArrayRef attributes,
                                Site site) const {
  return call_all(*op_, inputs, numbers, attributes, site);
}
const std::string& CustomOperator::name() const { return op_->name; }
int CustomOperator::outputs() const { return op_->outputs; }

Tensor OperatorGrad::cotangent(std::size_t output) const {
  const Tensor& given = at(grad_.op, "output", grad_.cotangents, output);
  if (given.defined()) return given;
  const Type& type = grad_.output_types[output];
  return zeros(type.sizes, TensorOptions(type.dtype));
}
Tensor OperatorGrad::input(std::size_t index) const {
  at(grad_.op, "input", grad_.inputs, index);
  const Tensor& value = grad_.input(index);
  GROOVE_CHECK(value.defined(),
               "the gradient of {} reads input {}, which saves_inputs does not name", grad_.op.name,
               index);
  return value;
}
Tensor OperatorGrad::output(std::size_t index) const {
  at(grad_.op, "output", grad_.outputs, index);
  const Tensor& value = grad_.output(index);
  GROOVE_CHECK(value.defined(),
               "the gradient of {} reads output {}, which saves_outputs does not name",
               grad_.op.name, index);
  return value;
}
bool OperatorGrad::needs(std::size_t input) const {
  return at(grad_.op, "input", grad_.needs, input);
}
jit::TensorType OperatorGrad::input_type(std::size_t index) const {
  return public_type(at(grad_.op, "input", grad_.input_types, index));
}
Scalar OperatorGrad::number(std::size_t index) const {
  return at(grad_.op, "number", grad_.numbers, index);
}
std::int64_t OperatorGrad::attribute(std::size_t index) const {
  return attribute_of(grad_.op, grad_.attrs, index);
}

std::size_t OperatorTypes::inputs() const { return signature_.inputs.size(); }
jit::TensorType OperatorTypes::input(std::size_t index) const {
  return public_type(at(signature_.op, "input", signature_.inputs, index));
}
std::int64_t OperatorTypes::attribute(std::size_t index) const {
  return attribute_of(signature_.op, signature_.attrs, index);
}

ScalarType HostArray::dtype() const { return tensor_.impl()->dtype; }
IntArrayRef HostArray::sizes() const { return tensor_.impl()->geometry.sizes; }
std::int64_t HostArray::numel() const { return tensor_.impl()->numel; }
void* HostArray::data_as(ScalarType dtype, bool is_const) const {
  const char* const what = is_output_ ? "output" : "input";
  if (dtype != tensor_.impl()->dtype)
    throw Error(fmt::format("{}: {} {} is of dtype {}, its host function asks for {}", op_.name,
                            what, index_, name(tensor_.impl()->dtype), name(dtype)));
  if (!is_const && !is_output_)
    throw Error(fmt::format("{}: input {} is read as data<const …>(); only outputs are written",
                            op_.name, index_));
  return tensor_.impl()->data();
}

HostArray HostCall::input(std::size_t index) const {
  const Tensor& tensor = at(signature_.op, "input", inputs_, index);
  if (!tensor.defined())
    throw Error(fmt::format("the check of {} reads input {}, which check_reads does not name",
                            signature_.op.name, index));
  return {signature_.op, tensor, index, false};
}
HostArray HostCall::output(std::size_t index) const {
  return {signature_.op, at(signature_.op, "output", outputs_, index), index, true};
}
Scalar HostCall::number(std::size_t index) const {
  return at(signature_.op, "number", signature_.numbers, index);
}
std::int64_t HostCall::attribute(std::size_t index) const {
  return attribute_of(signature_.op, signature_.attrs, index);
}

}  // namespace groove
