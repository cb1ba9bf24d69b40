#include "groove/data/transforms.h"

#include <cstring>

#include "groove/factories.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"

namespace groove::data::transforms {
namespace detail {
namespace {

// Present, contiguous, without a tape: rows that host code may copy.
bool is_plain(const Tensor& tensor) {
  return tensor.defined() && tensor.impl()->is_contiguous && !tensor.impl()->requires_grad;
}

bool has_type_of(const Tensor& tensor, const Tensor& first) {
  return tensor.impl()->dtype == first.impl()->dtype &&
         tensor.impl()->geometry.sizes == first.impl()->geometry.sizes;
}

Tensor channel_tensor(const std::vector<double>& values) {  // [channels, 1, 1], also of one
  return tensor(values).to(kFloat).unsqueeze(1).unsqueeze(2);
}

}  // namespace

Normalizer::Normalizer(std::vector<double> mean, std::vector<double> stddev) {
  GROOVE_CHECK(!mean.empty() && !stddev.empty(), "Normalize: mean and stddev must not be empty");
  for (double value : stddev) GROOVE_CHECK(value != 0, "Normalize: a stddev is 0");
  mean_ = channel_tensor(mean);
  stddev_ = channel_tensor(stddev);
}

Tensor Normalizer::operator()(const Tensor& tensor) const { return tensor.sub(mean_).div(stddev_); }

bool Normalizer::apply_all(std::vector<Tensor*>& tensors) const {
  if (tensors.empty() || mean_.numel() != 1 || stddev_.numel() != 1) return false;
  if (mean_.scalar_type() != kFloat || !tensors[0]->defined()) return false;
  const Tensor first = *tensors[0];
  for (const Tensor* tensor : tensors)
    if (!is_plain(*tensor) || tensor->impl()->dtype != kFloat || !has_type_of(*tensor, first))
      return false;
  const float mean = *mean_.const_data_ptr<float>(), stddev = *stddev_.const_data_ptr<float>();
  const std::int64_t width = first.numel();
  Shape each = first.impl()->geometry.sizes;
  while (each.size() < mean_.impl()->geometry.sizes.size()) each.insert(0, 1);
  Shape sizes = each;
  sizes.insert(0, static_cast<std::int64_t>(tensors.size()));
  const Tensor all = make_empty(sizes, kFloat);
  Geometry row{each, contiguous_strides(each), 0};
  auto* out = static_cast<float*>(all.impl()->data());
  for (Tensor* tensor : tensors) {
    const float* in = tensor->const_data_ptr<float>();
    for (std::int64_t i = 0; i < width; ++i) out[i] = (in[i] - mean) / stddev;
    *tensor = make_view(all, row);
    out += width;
    row.offset += width;
  }
  return true;
}

Tensor stack_rows(std::vector<Tensor> rows) {
  bool is_simple = !rows.empty();
  for (const Tensor& row : rows)
    is_simple = is_simple && is_plain(row) && has_type_of(row, rows[0]);
  if (!is_simple) return stack(rows);
  for (const Tensor& row : rows) materialize(*row.impl());

  const TensorImpl& first = *rows[0].impl();
  Geometry whole;
  whole.sizes = first.geometry.sizes;
  whole.sizes.insert(0, static_cast<std::int64_t>(rows.size()));
  whole.strides = contiguous_strides(whole.sizes);
  whole.offset = first.geometry.offset;
  const std::size_t bytes = static_cast<std::size_t>(first.numel) * element_size(first.dtype);

  // Rows of one block that nobody else holds, as Normalize leaves them, are the batch already.
  bool is_block = first.storage->use_count() == static_cast<std::int64_t>(rows.size()) &&
                  first.storage->bytes == bytes * rows.size();
  for (std::size_t i = 0; i < rows.size() && is_block; ++i) {
    const TensorImpl& row = *rows[i].impl();
    is_block =
        row.storage == first.storage && row.use_count() == 1 &&
        row.geometry.offset == first.geometry.offset + static_cast<std::int64_t>(i) * first.numel;
  }
  if (is_block) return make_view(rows[0], whole);

  const Tensor result = make_empty(whole.sizes, first.dtype);
  auto* out = static_cast<char*>(result.impl()->data());
  for (const Tensor& row : rows) {
    if (bytes) std::memcpy(out, row.impl()->data(), bytes);
    out += bytes;
  }
  return result;
}

}  // namespace detail

Example<> Stack<Example<>>::apply_batch(std::vector<Example<>> examples) {
  std::vector<Tensor> data, targets;
  data.reserve(examples.size());
  targets.reserve(examples.size());
  for (Example<>& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  return {detail::stack_rows(std::move(data)), detail::stack_rows(std::move(targets))};
}

TensorExample Stack<TensorExample>::apply_batch(std::vector<TensorExample> examples) {
  std::vector<Tensor> data;
  data.reserve(examples.size());
  for (TensorExample& example : examples) data.push_back(std::move(example.data));
  return detail::stack_rows(std::move(data));
}

}  // namespace groove::data::transforms
