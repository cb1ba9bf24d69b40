// The facts about a convolution that do not depend on which of its three tensors is the result.
#include "kernels/block_product.h"
#include "kernels/convolution/product.h"
#include "kernels/ops/convolution.h"

namespace groove {
namespace {

using kernels::ConvolutionAxis;
using kernels::ConvolutionForm;
using kernels::ConvolutionShape;
enum { kStride, kPadding, kDilation, kGroups, kSize };

// Sizes of the three tensors; the result's are computed by convolution_sizes().
struct Sizes {
  Shape x, weight, y;
};

void check_attrs(const std::string& op, const ConvolutionAttrs& how) {
  for (std::size_t axis = 0; axis < 2; ++axis) {
    GROOVE_CHECK(how.stride[axis] > 0 && how.dilation[axis] > 0 && how.padding[axis] >= 0,
                 "{}: stride {} and dilation {} must be positive, padding {} not negative", op,
                 to_string(how.stride), to_string(how.dilation), to_string(how.padding));
  }
  GROOVE_CHECK(how.groups > 0, "{}: groups is {}; it must be positive", op, how.groups);
}

std::int64_t output_size(const std::string& op, std::int64_t in, std::int64_t kernel,
                         const ConvolutionAttrs& how, std::size_t axis) {
  const std::int64_t reach = how.dilation[axis] * (kernel - 1) + 1;
  const std::int64_t padded = in + 2 * how.padding[axis];
  GROOVE_CHECK(kernel > 0 && padded >= reach,
               "{}: a kernel of {} (dilation {}) does not fit an input of {} (padding {})", op,
               kernel, how.dilation[axis], in, how.padding[axis]);
  return (padded - reach) / how.stride[axis] + 1;
}

Sizes convolution_sizes(ConvolutionForm form, const Signature& s) {
  const std::string& op = s.op.name;
  const ConvolutionAttrs how = convolution_attrs(s.attr());
  check_attrs(op, how);
  const Type &a = s.inputs[0], &b = s.inputs[1];
  GROOVE_CHECK(a.sizes.size() == 4 && b.sizes.size() == 4,
               "{}: operands {} and {} must have four dimensions", op, to_string(a.sizes),
               to_string(b.sizes));
  GROOVE_CHECK(is_floating(a.dtype) && a.dtype == b.dtype,
               "{}: operands are {} and {}; they must be one floating dtype", op, name(a.dtype),
               name(b.dtype));
  Sizes sizes;
  const bool is_weight = form == ConvolutionForm::kBackwardWeight;
  (form == ConvolutionForm::kForward ? sizes.x : sizes.y) = a.sizes;
  (is_weight ? sizes.x : sizes.weight) = b.sizes;
  const std::int64_t groups = how.groups;
  if (form == ConvolutionForm::kBackwardData) {
    const IntArrayRef size = s.attr().integers(kSize);
    sizes.x = {a.sizes[0], b.sizes[1] * groups, size[0], size[1]};
  } else if (is_weight) {
    const IntArrayRef size = s.attr().integers(kSize);
    GROOVE_CHECK(sizes.x[1] % groups == 0, "{}: {} channels cannot be divided into {} groups", op,
                 sizes.x[1], groups);
    sizes.weight = {a.sizes[1], b.sizes[1] / groups, size[0], size[1]};
  }
  GROOVE_CHECK(sizes.x[1] > 0 && sizes.weight[0] > 0,
               "{}: input {} and weight {} must have channels", op, to_string(sizes.x),
               to_string(sizes.weight));
  GROOVE_CHECK(sizes.x[1] == sizes.weight[1] * groups && sizes.weight[0] % groups == 0,
               "{}: weight {} with {} groups expects {} input channels and a multiple of {} "
               "output channels; the input is {}",
               op, to_string(sizes.weight), groups, sizes.weight[1] * groups, groups,
               to_string(sizes.x));
  Shape y = {sizes.x[0], sizes.weight[0], 0, 0};
  for (std::size_t axis = 0; axis < 2; ++axis)
    y[2 + axis] = output_size(op, sizes.x[2 + axis], sizes.weight[2 + axis], how, axis);
  GROOVE_CHECK(form == ConvolutionForm::kForward || sizes.y == y,
               "{}: input {} and weight {} make {}, not {}", op, to_string(sizes.x),
               to_string(sizes.weight), to_string(y), to_string(sizes.y));
  sizes.y = y;
  return sizes;
}

ConvolutionShape shape_of(ConvolutionForm form, const Signature& s) {
  const Sizes sizes = convolution_sizes(form, s);
  const ConvolutionAttrs how = convolution_attrs(s.attr());
  const auto axis = [&](std::size_t i) {
    return ConvolutionAxis{sizes.x[2 + i], sizes.y[2 + i], sizes.weight[2 + i],
                           how.stride[i],  how.padding[i], how.dilation[i]};
  };
  return {sizes.x[0], how.groups, sizes.weight[1], sizes.weight[0] / how.groups, axis(0), axis(1)};
}

// A nanosecond of one core, in fused multiply-adds.
constexpr double kMultiplyAddsPerNanosecond = 25;

std::vector<AttrField> fields_of(const char* size_name) {
  std::vector<AttrField> fields = {{"stride", AttrType::kInts},
                                   {"padding", AttrType::kInts},
                                   {"dilation", AttrType::kInts},
                                   {"groups", AttrType::kInt}};
  if (size_name) fields.push_back({size_name, AttrType::kInts});
  return fields;
}

TypeResult type_of_result(ConvolutionForm form, const Signature& s) {
  const Sizes sizes = convolution_sizes(form, s);
  const ScalarType dtype = s.inputs[0].dtype;
  const Shape& result = form == ConvolutionForm::kForward        ? sizes.y
                        : form == ConvolutionForm::kBackwardData ? sizes.x
                                                                 : sizes.weight;
  return {{{dtype, result}}, dtype};
}

std::shared_ptr<const kernels::Lowering> lowering_of(ConvolutionForm form) {
  kernels::OpaqueLowering how;
  how.run_part = [form](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                        int part, int parts) {
    kernels::run_convolution({form, s.inputs[0].dtype, shape_of(form, s), inputs[0].impl()->data(),
                              inputs[1].impl()->data(), outputs[0].impl()->data()},
                             part, parts);
  };
  how.nanoseconds = [form](const Signature& s) {
    const ConvolutionShape shape = shape_of(form, s);
    return double(shape.images * shape.groups) * double(shape.out_plane() * shape.out_channels) *
           double(shape.taps() * shape.in_channels) / kMultiplyAddsPerNanosecond;
  };
  return kernels::lower(std::move(how));
}

kernels::BlockProduct block_product_of(ConvolutionForm form) {
  return {[form](const Signature& s) {
            return kernels::convolution_product_shape(form, shape_of(form, s));
          },
          [form](const Signature& s, kernels::Backend& backend, const kernels::Kernel& epilogue) {
            return kernels::make_convolution_product(form, s.inputs[0].dtype, shape_of(form, s),
                                                     backend, epilogue);
          },
          form == ConvolutionForm::kForward};
}

// Every product once, added to whichever tensor is the result.
ReferenceRule reference_of(ConvolutionForm form) {
  return [form](const Signature& s, const std::vector<Reference>& inputs) {
    const Sizes sizes = convolution_sizes(form, s);
    const ConvolutionAttrs how = convolution_attrs(s.attr());
    Reference result = make_reference(s.op.type(s).outputs[0], [](const Shape&) { return 0.0; });
    const auto at = [](IntArrayRef shape, const Shape& index) {
      return static_cast<std::size_t>(flat_position(shape, index));
    };
    const std::int64_t y_group = sizes.weight[0] / how.groups, x_group = sizes.weight[1];
    for_each_index(sizes.y, [&](const Shape& y) {
      for_each_index({x_group, sizes.weight[2], sizes.weight[3]}, [&](const Shape& tap) {
        const std::int64_t h = y[2] * how.stride[0] + tap[1] * how.dilation[0] - how.padding[0];
        const std::int64_t w = y[3] * how.stride[1] + tap[2] * how.dilation[1] - how.padding[1];
        if (h < 0 || h >= sizes.x[2] || w < 0 || w >= sizes.x[3]) return;
        const std::size_t in_y = at(sizes.y, y);
        const std::size_t in_x = at(sizes.x, {y[0], y[1] / y_group * x_group + tap[0], h, w});
        const std::size_t in_w = at(sizes.weight, {y[1], tap[0], tap[1], tap[2]});
        const std::vector<double>&a = inputs[0].values, &b = inputs[1].values;
        switch (form) {
          case ConvolutionForm::kForward:
            result.values[in_y] += a[in_x] * b[in_w];
            break;
          case ConvolutionForm::kBackwardData:
            result.values[in_x] += a[in_y] * b[in_w];
            break;
          case ConvolutionForm::kBackwardWeight:
            result.values[in_w] += a[in_y] * b[in_x];
        }
      });
    });
    return std::vector<Reference>{result};
  };
}

std::vector<Sample> samples_of(ConvolutionForm form, ScalarType dtype) {
  struct Case {
    Shape x, weight;
    ConvolutionAttrs how;
  };
  const Case cases[] = {
      {{1, 2, 2, 3}, {2, 2, 1, 2}, {{1, 1}, {0, 0}, {1, 1}, 1}},
      {{1, 1, 3, 3}, {1, 1, 3, 3}, {{2, 2}, {1, 1}, {1, 1}, 1}},
      {{1, 2, 2, 2}, {2, 1, 1, 2}, {{1, 1}, {0, 1}, {1, 1}, 2}},
      {{3, 2, 5, 6}, {4, 2, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
      {{2, 4, 7, 5}, {6, 2, 3, 2}, {{2, 3}, {2, 0}, {1, 2}, 2}},
      {{2, 1, 9, 9}, {6, 1, 5, 5}, {{1, 1}, {2, 2}, {1, 1}, 1}},
      {{2, 3, 1, 8}, {3, 1, 1, 3}, {{1, 2}, {0, 1}, {1, 1}, 3}},
      {{1, 70, 3, 3}, {3, 70, 3, 3}, {{1, 1}, {1, 1}, {1, 1}, 1}},
      {{0, 2, 4, 4}, {3, 2, 3, 3}, {{1, 1}, {0, 0}, {1, 1}, 1}},
  };
  std::vector<Sample> samples;
  for (const Case& c : cases) {
    Shape y = {c.x[0], c.weight[0], 0, 0};
    for (std::size_t i = 0; i < 2; ++i)
      y[2 + i] = output_size("convolution", c.x[2 + i], c.weight[2 + i], c.how, i);
    const IntArrayRef x_size(c.x.data() + 2, 2), weight_size(c.weight.data() + 2, 2);
    switch (form) {
      case ConvolutionForm::kForward:
        samples.push_back({{{dtype, c.x}, {dtype, c.weight}}, c.how.attrs(), {}});
        break;
      case ConvolutionForm::kBackwardData:
        samples.push_back({{{dtype, y}, {dtype, c.weight}}, c.how.attrs(x_size), {}});
        break;
      case ConvolutionForm::kBackwardWeight:
        samples.push_back({{{dtype, y}, {dtype, c.x}}, c.how.attrs(weight_size), {}});
    }
  }
  return samples;
}

}  // namespace

Attrs ConvolutionAttrs::attrs(IntArrayRef result_size) const {
  Attrs result;
  result.add(IntArrayRef(stride)).add(IntArrayRef(padding)).add(IntArrayRef(dilation)).add(groups);
  return result_size.empty() ? result : result.add(result_size);
}

ConvolutionAttrs convolution_attrs(const AttrReader& attr) {
  return {Shape(attr.integers(kStride)), Shape(attr.integers(kPadding)),
          Shape(attr.integers(kDilation)), attr.integer(kGroups)};
}

Shape spatial(const char* op, const char* what, IntArrayRef values, std::size_t axes) {
  GROOVE_CHECK(values.size() == 1 || values.size() == axes, "{}: {} {} must hold one number or {}",
               op, what, to_string(values), axes);
  return values.size() == 1 ? Shape(axes, values[0]) : Shape(values);
}

const Op& define_convolution(const char* name, const char* size_name, ConvolutionForm form,
                             GradientRule gradient) {
  const Op& op = define({
      .name = name,
      .kind = OpKind::kOpaque,
      .inputs = 2,
      .attributes = fields_of(size_name),
      .type = [form](const Signature& s) { return type_of_result(form, s); },
      .lowering = lowering_of(form),
      .gradient = std::move(gradient),
      .saves_inputs = 3,
      .autocast = Precision::kShort,
      .has_inplace = false,
      .reference = reference_of(form),
      .domain = {-1, 1},
      .dtypes = floating_dtypes(),
      .samples = [form](ScalarType dtype) { return samples_of(form, dtype); },
      .tolerance_ulp = 2000,  // of sums that may cancel
  });
  if (form != ConvolutionForm::kBackwardWeight)
    kernels::register_block_product(op, block_product_of(form));
  return op;
}

}  // namespace groove
