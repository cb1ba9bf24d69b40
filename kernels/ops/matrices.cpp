// Batches of matrices as dense arrays of f64 and back, and the check of what a factorisation says
// of each.
#include "kernels/ops/matrices.h"

#include <algorithm>

#include "kernels/ops/ranking.h"

namespace groove {
namespace {

template <typename T>
void load(const void* data, std::int64_t at, Matrix& matrix) {
  const T* from = static_cast<const T*>(data) + at;
  for (double& value : matrix.values) value = static_cast<double>(*from++);
}
void load(const Tensor& tensor, std::int64_t at, Matrix& matrix) {
  const void* data = tensor.impl()->data();
  switch (tensor.impl()->dtype) {
    case kFloat:
      return load<float>(data, at, matrix);
    case kDouble:
      return load<double>(data, at, matrix);
    case kInt:
      return load<std::int32_t>(data, at, matrix);
    default:
      return load<std::int64_t>(data, at, matrix);
  }
}

template <typename T>
void store(void* data, std::int64_t at, const Matrix& matrix) {
  T* to = static_cast<T*>(data) + at;
  for (const double value : matrix.values) *to++ = static_cast<T>(value);
}
void store(const Tensor& tensor, std::int64_t at, const Matrix& matrix) {
  void* data = tensor.impl()->data();
  switch (tensor.impl()->dtype) {
    case kFloat:
      return store<float>(data, at, matrix);
    case kDouble:
      return store<double>(data, at, matrix);
    case kInt:
      return store<std::int32_t>(data, at, matrix);
    default:
      return store<std::int64_t>(data, at, matrix);
  }
}

Matrices entries_of(ArrayRef<Type> types, std::size_t batch_rank) {
  Matrices result;
  for (const Type& type : types) {
    const std::size_t rank = type.sizes.size() - batch_rank;
    result.emplace_back(rank > 1 ? type.sizes[batch_rank] : 1, rank > 0 ? type.sizes.back() : 1);
  }
  return result;
}

std::size_t batch_rank_of(const Signature& s) { return s.inputs[0].sizes.size() - 2; }
std::int64_t batch_of(const Signature& s) {
  return element_count(IntArrayRef(s.inputs[0].sizes).slice(0, batch_rank_of(s)));
}

double cost(const Signature& s) {
  const Shape& sizes = s.inputs[0].sizes;
  const auto longest = static_cast<double>(std::max(sizes[sizes.size() - 2], sizes.back()));
  return 500 + 4 * longest * static_cast<double>(element_count(sizes));
}

enum { kRefusal };

const Op& op_verified = define({
    .name = "verified",
    .inputs = 2,
    .attributes = {{"refusal", AttrType::kInt}},
    .type = [](const Signature& s) -> TypeResult {
      check_defined(s);
      GROOVE_CHECK(s.inputs[1].dtype == kInt, "verified: an info of {}", name(s.inputs[1].dtype));
      return {{s.inputs[0]}, s.inputs[0].dtype};
    },
    .lowering = kernels::lower(kernels::ElementwiseLowering{
        .body = [](kernels::Body& body) { return kernels::Exprs{body.inputs[0]}; },
        .raw_inputs = 2}),
    .gradient =
        [](const Grad& g) {
          return Tensors{g.cotangent(), Tensor()};
        },
    .check =
        [](const Signature& s, ArrayRef<Tensor> inputs) {
          const TensorImpl& impl = *inputs[1].impl();
          std::int64_t place = 0;
          for_each_index(impl.geometry.sizes, [&](const Shape& index) {
            std::int64_t offset = impl.geometry.offset;
            for (std::size_t axis = 0; axis < index.size(); ++axis)
              offset += index[axis] * impl.geometry.strides[axis];
            const int found = static_cast<const std::int32_t*>(impl.storage->data)[offset];
            const std::string which =
                impl.numel == 1 ? "the matrix" : fmt::format("matrix {} of the batch", place);
            ++place;
            if (found == 0) return;
            switch (static_cast<Refusal>(s.attr().integer(kRefusal))) {
              case Refusal::kSingular:
                throw_error_as<LinAlgError>(
                    fmt::format("verified: {} is singular: pivot {} is 0", which, found));
              case Refusal::kNotPositive:
                throw_error_as<LinAlgError>(fmt::format(
                    "verified: {} is not positive definite: nor is its minor of order {}", which,
                    found));
              default:
                throw_error_as<LinAlgError>(
                    fmt::format("verified: {} holds NaN or infinity", which));
            }
          });
        },
    .check_reads = 1,
    .allowed =
        [](const Signature&) {
          return ValueRange{0, 0};
        },
    .has_inplace = false,
});

}  // namespace

Matrix transposed(const Matrix& a) {
  Matrix result(a.columns, a.rows);
  constexpr std::int64_t kBlock = 8;  // of a cache line
  for (std::int64_t top = 0; top < a.rows; top += kBlock)
    for (std::int64_t j = 0; j < a.columns; ++j)
      for (std::int64_t i = top; i < std::min(top + kBlock, a.rows); ++i) result(j, i) = a(i, j);
  return result;
}

Matrix unit(std::int64_t rows, std::int64_t columns) {
  Matrix result(rows, columns);
  for (std::int64_t i = 0; i < std::min(rows, columns); ++i) result(i, i) = 1;
  return result;
}

std::shared_ptr<const kernels::Lowering> matrix_lowering(MatrixFunction function) {
  return kernels::lower(kernels::OpaqueLowering{
      .run_part =
          [function](const Signature& s, ArrayRef<Tensor> inputs, ArrayRef<Tensor> outputs,
                     int part, int parts) {
            const std::vector<Type> types = s.op.type(s).outputs;
            const std::size_t rank = batch_rank_of(s);
            const auto [begin, end] = line_share(batch_of(s), part, parts);
            Matrices from = entries_of(s.inputs, rank);
            for (std::int64_t entry = begin; entry < end; ++entry) {
              Matrices to = entries_of(types, rank);
              for (std::size_t i = 0; i < from.size(); ++i)
                load(inputs[i], entry * static_cast<std::int64_t>(from[i].values.size()), from[i]);
              function(s.attr(), from, to);
              for (std::size_t k = 0; k < to.size(); ++k)
                store(outputs[k], entry * static_cast<std::int64_t>(to[k].values.size()), to[k]);
            }
          },
      .nanoseconds = cost});
}

ReferenceRule matrix_reference(MatrixFunction function) {
  return [function](const Signature& s, const std::vector<Reference>& inputs) {
    const std::vector<Type> types = s.op.type(s).outputs;
    const std::size_t rank = batch_rank_of(s);
    std::vector<Reference> result;
    for (const Type& type : types)
      result.push_back(make_reference(type, [](const Shape&) { return 0.0; }));
    for (std::int64_t entry = 0; entry < batch_of(s); ++entry) {
      Matrices from = entries_of(s.inputs, rank), to = entries_of(types, rank);
      const auto place = [entry](const Matrix& matrix) {
        return entry * static_cast<std::int64_t>(matrix.values.size());
      };
      for (std::size_t i = 0; i < from.size(); ++i)
        std::copy_n(inputs[i].values.begin() + place(from[i]), from[i].values.size(),
                    from[i].values.begin());
      function(s.attr(), from, to);
      for (std::size_t k = 0; k < to.size(); ++k)
        std::copy(to[k].values.begin(), to[k].values.end(),
                  result[k].values.begin() + place(to[k]));
    }
    return result;
  };
}

void check_matrices(const char* op, const Type& type, bool is_square) {
  const Shape& sizes = type.sizes;
  GROOVE_CHECK_AS(NotImplementedError, type.dtype == kFloat || type.dtype == kDouble,
                  "{}: not defined for {} tensors; convert to Float or Double", op,
                  name(type.dtype));
  GROOVE_CHECK(sizes.size() >= 2, "{}: shape {} has no rows and columns", op, to_string(sizes));
  GROOVE_CHECK(!is_square || sizes[sizes.size() - 2] == sizes.back(),
               "{}: matrices of shape {} must be square", op, to_string(sizes));
}

Type checked_matrices(const char* op, const Tensor& tensor, bool is_square) {
  checked(op, tensor);
  const Type type = type_of(tensor);
  check_matrices(op, type, is_square);
  return type;
}

Shape batch_with(const Shape& sizes, IntArrayRef last) {
  Shape result(IntArrayRef(sizes).slice(0, sizes.size() - 2));
  for (const std::int64_t size : last) result.push_back(size);
  return result;
}

Tensors call_all(const Op& op, TensorList inputs, const Attrs& attrs) {
  Tensors outputs(static_cast<std::size_t>(op.outputs));
  dispatch(Call{&op, inputs, &attrs, {}, Site::current()}, outputs.data());
  return outputs;
}

Tensor verified(const Tensor& x, const Tensor& info, Refusal refusal) {
  Tensor beside = info;
  while (beside.dim() < x.dim()) beside = unsqueeze(beside, -1);
  return call(op_verified, {x, beside}, Site::current(),
              Attrs().add(static_cast<std::int64_t>(refusal)));
}

std::pair<Tensor, Tensor> one_batch(const char* op, const Tensor& a, const Tensor& b) {
  const Shape left = type_of(a).sizes, right = type_of(b).sizes;
  GROOVE_CHECK(type_of(a).dtype == type_of(b).dtype, "{}: dtypes {} and {} must be equal", op,
               name(type_of(a).dtype), name(type_of(b).dtype));
  const Shape batch = broadcast_of(op, IntArrayRef(left).slice(0, left.size() - 2),
                                   IntArrayRef(right).slice(0, right.size() - 2));
  const auto widened = [&](const Tensor& x, const Shape& sizes) {
    Shape full = batch;
    full.push_back(sizes[sizes.size() - 2]);
    full.push_back(sizes.back());
    return full == sizes ? x : expand(x, full);
  };
  return {widened(a, left), widened(b, right)};
}

}  // namespace groove
