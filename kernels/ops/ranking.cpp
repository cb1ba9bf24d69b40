// Keys of elements along lines, and what ops that pick elements share.
#include "kernels/ops/ranking.h"

#include <cstring>

#include "kernels/ops/axis.h"
#include "kernels/ops/indexed_write.h"

namespace groove {

Lines::Lines(const Shape& sizes, std::int64_t dim) : count(1), length(1), stride(1) {
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (static_cast<std::int64_t>(i) == dim) {
      length = sizes[i];
      continue;
    }
    count *= sizes[i];
    if (static_cast<std::int64_t>(i) > dim) stride *= sizes[i];
  }
}

void rank_line(ScalarType dtype, const void* data, std::int64_t offset, const Lines& lines,
               bool descending, std::vector<Ranked>& ranked) {
  ranked.resize(static_cast<std::size_t>(lines.length));
  const std::uint64_t turn = descending ? ~std::uint64_t{0} : 0;
  with_element(dtype, [&](auto kind) {
    const auto* element = static_cast<const decltype(kind)*>(data) + offset;
    for (std::int64_t i = 0; i < lines.length; ++i, element += lines.stride)
      ranked[static_cast<std::size_t>(i)] = {key_of(*element) ^ turn, i};
  });
}

void move_element(std::size_t size, void* target, std::int64_t to, const void* source,
                  std::int64_t from) {
  std::memcpy(static_cast<char*>(target) + to * static_cast<std::int64_t>(size),
              static_cast<const char*>(source) + from * static_cast<std::int64_t>(size), size);
}

std::tuple<Tensor, Tensor> call_ranked(const Op& op, Arg self, const Attrs& attrs) {
  Tensor outputs[2];
  dispatch(Call{&op, ArrayRef<Tensor>(*self.tensor), &attrs, {}, self.site}, outputs);
  return {outputs[0], outputs[1]};
}

void check_ranked(const char* op, const Tensor& self) {
  GROOVE_CHECK(checked(op, self).dtype != kBool,
               "{}: not defined for Bool tensors; convert with to(kInt)", op);
}

std::int64_t ranked_axis(const char* op, const Tensor& self, std::int64_t dim) {
  return normal_dim(op, dim, checked(op, self).geometry.sizes.size());
}

Shape picked_shape(const Signature& s, std::int64_t count) {
  Shape sizes = s.inputs[0].sizes;
  if (!sizes.empty()) sizes[axis_of(s, 0)] = count;
  return sizes;
}

ReferenceRule picked_reference(
    std::function<std::size_t(const Signature&, const std::vector<double>&)> pick) {
  return [pick](const Signature& s, const std::vector<Reference>& inputs) {
    const Shape& sizes = inputs[0].type.sizes;
    const auto dim = static_cast<std::size_t>(s.attr().integer(0));
    std::vector<Reference> result;
    for (const Type& type : s.op.type(s).outputs)
      result.push_back(make_reference(type, [](const Shape&) { return 0.0; }));
    for_each_index(result[0].type.sizes, [&](Shape index) {
      const auto to = static_cast<std::size_t>(flat_position(result[0].type.sizes, index));
      std::vector<double> line;
      for (std::int64_t i = 0; i < (sizes.empty() ? 1 : sizes[dim]); ++i) {
        if (!index.empty()) index[dim] = i;
        line.push_back(inputs[0].values[static_cast<std::size_t>(flat_position(sizes, index))]);
      }
      const std::size_t position = pick(s, line);
      result[0].values[to] = line[position];
      result[1].values[to] = static_cast<double>(position);
    });
    return result;
  };
}

Tensors picked_gradient(const Grad& g) {
  if (!g.cotangent().defined()) return Tensors(1);
  if (g.input_types[0].sizes.empty()) return {g.cotangent()};
  return {scatter_sum(g.output(1), g.cotangent(), g.attr().integer(0), g.input_types[0].sizes)};
}

}  // namespace groove
