// Views, what moves elements, what picks them by position, and what makes them.
#include <algorithm>

#include "tools/random_programs/operands.h"

namespace groove::random_programs {
namespace {

Tensor reshaped(const Operands& v) {
  const std::int64_t count = v.a.numel();
  std::int64_t first = 1 + wrap(v.j, 8);
  while (count % first) --first;
  switch (wrap(v.i, 3)) {
    case 0:
      return v.a.reshape({-1}, v.site);
    case 1:
      return v.a.reshape({first, -1}, v.site);
    default:
      return v.a.reshape({-1, 1, first}, v.site);
  }
}

Tensor expanded(const Operands& v) {
  Sizes sizes = sizes_of(v.a);
  if (v.i & 1)
    for (std::int64_t& size : sizes)
      if (size == 1) size = 1 + wrap(v.j, 5);
  if (!(v.i & 1) || v.i & 2) sizes.insert(sizes.begin(), 1 + wrap(v.k, 3));
  return v.a.expand(sizes, false, v.site);
}

Sizes new_sizes(const Operands& v) {
  Sizes sizes = sizes_of(v.a);
  if (!sizes.empty()) sizes[0] = std::max<std::int64_t>(1, sizes[0] + v.i % 4);
  return sizes;
}

Tensor permuted(const Operands& v) {
  Sizes dims;
  for (std::int64_t d = 0; d < v.a.dim(); ++d) dims.push_back(d);
  if (!dims.empty()) std::rotate(dims.begin(), dims.begin() + wrap(v.i, v.a.dim()), dims.end());
  if (v.j & 1) std::reverse(dims.begin(), dims.end());
  return groove::permute(Arg(v.a, v.site), dims);
}

// Of a long vector it would be a matrix that no program keeps.
Tensor diagonal_matrix(const Operands& v) {
  if (v.a.dim() == 1 && v.a.numel() > 170) throw Error("random-programs: too many elements");
  return v.a.diag(wrap(v.j, 3) - 1, v.site);
}

Tensor repeated(const Operands& v) {
  Sizes repeats;
  for (std::int64_t d = 0; d < v.a.dim(); ++d) repeats.push_back(1 + wrap(v.i >> d, 2));
  if (v.j & 1) repeats.insert(repeats.begin(), 2);
  return v.a.repeat(repeats, v.site);
}

Tensor one_of(const std::vector<Tensor>& parts, std::int64_t raw) {
  return parts[static_cast<std::size_t>(wrap(raw, static_cast<std::int64_t>(parts.size())))];
}

Tensor split_part(const Operands& v) {
  return one_of(v.a.split(1 + wrap(v.k, 5), axis(v.a, v.i), v.site), v.j);
}

Tensor chunk_part(const Operands& v) {
  return one_of(v.a.chunk(1 + wrap(v.k, 4), axis(v.a, v.i), v.site), v.j);
}

Tensor unbind_part(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i);
  if (v.a.size(d) > 40) throw Error("random-programs: too many parts");
  return one_of(v.a.unbind(d, v.site), v.j);
}

// For scatter: in each column of `source` the rows are different ones of `rows`.
Tensor different_rows(const Tensor& source, std::int64_t rows, std::int64_t first) {
  if (source.dim() < 1 || source.size(0) > rows) throw Error("random-programs: too many rows");
  const std::int64_t columns = source.numel() / std::max<std::int64_t>(source.size(0), 1);
  Sizes values;
  for (std::int64_t r = 0; r < source.size(0); ++r)
    for (std::int64_t c = 0; c < columns; ++c) values.push_back(wrap(first + r + c, rows));
  return groove::tensor(values).reshape(source.sizes());
}

Tensor topk_values(const Operands& v) {
  const std::int64_t d = axis(v.a, v.i);
  return std::get<0>(v.a.topk(1 + wrap(v.k, v.a.size(d)), d, (v.j & 1) != 0, true, v.site));
}

}  // namespace

std::vector<Op> shape_ops() {
  return {
      {"transpose", 1, RUN(v.a.transpose(axis(v.a, v.i), axis(v.a, v.j), v.site)), 8},
      {"narrow", 1, narrowed, 8, true},
      {"slice", 1, sliced, 8, true},
      {"select", 1, RUN(v.a.select(axis(v.a, v.i), wrap(v.j, v.a.size(axis(v.a, v.i))), v.site)), 6,
       true},
      {"subscript", 1, RUN(v.a[detail::SubscriptArg(wrap(v.j, v.a.size(0)), v.site)]), 4, true},
      {"reshape", 1, reshaped, 8},
      {"flatten", 1, RUN(v.a.flatten(0, -1, v.site))},
      {"unsqueeze", 1, RUN(v.a.unsqueeze(wrap(v.i, v.a.dim() + 1), v.site))},
      {"squeeze", 1, RUN(v.a.squeeze(v.site))},
      {"expand", 1, expanded, 8},
      {"detach", 1, RUN(v.a.detach(v.site)), 2},
      {"contiguous", 1, RUN(v.a.contiguous(v.site)), 2},
      {"cat", 2, RUN(groove::cat({v.a, v.b}, axis(v.a, v.i), v.site)), 6},
      {"cat_three", 3, RUN(groove::cat({v.a, v.b, v.c}, axis(v.a, v.i), v.site))},
      {"stack", 2, RUN(groove::stack({v.a, v.b}, wrap(v.i, v.a.dim() + 1), v.site))},
      {"index_select", 2,
       RUN(v.a.index_select(axis(v.a, v.i),
                            as_integers(v.b, 1 + wrap(v.k, 6), v.a.size(axis(v.a, v.i)), v),
                            v.site)), 6, true},
      {"gather", 1,
       RUN(v.a.gather(
           0,
           positions(v.a.numel(), v.a.size(0), v.j, 1 + wrap(v.k, 5)).reshape(v.a.sizes(), v.site),
           v.site)), 6, true},
      {"index_add", 2,
       RUN(v.a.index_add(0, positions(v.b.size(0), v.a.size(0), v.j, v.k), v.b, v.site)), 4, true},
      {"scatter_add", 1,
       RUN(v.a.scatter_add(
           0,
           positions(v.a.numel(), v.a.size(0), v.j, 1 + wrap(v.k, 5)).reshape(v.a.sizes(), v.site),
           v.a, v.site)), 4, true},
      {"one_hot", 1, RUN(groove::one_hot(Arg(v.a, v.site), 2 + wrap(v.i, 9))), 2},
      {"rand", 1, RUN(groove::rand(new_sizes(v), kFloat, v.site))},
      {"randn", 1, RUN(groove::randn(new_sizes(v), v.j & 3 ? kFloat : kDouble, v.site)), 8},
      {"randint", 1, RUN(groove::randint(1 + wrap(v.j, 9), new_sizes(v), kLong, v.site))},
      {"rand_like", 1, RUN(groove::rand_like(Arg(v.a, v.site)))},
      {"zeros", 1, RUN(groove::zeros(new_sizes(v), v.a.options(), v.site))},
      {"ones_like", 1, RUN(groove::ones_like(Arg(v.a, v.site)))},
      {"full", 1, RUN(groove::full(new_sizes(v), v.x, kFloat, v.site))},
      {"arange", 0, RUN(groove::arange(1 + wrap(v.j, 7), v.i & 1 ? kFloat : kLong, v.site))},
      {"host_tensor", 0,
       RUN(groove::tensor(std::vector<double>{v.x, -v.x, 1.5, v.x * v.x}, kFloat))},
      {"pad", 1,
       RUN(groove::pad(Arg(v.a, v.site), {wrap(v.i, 3), wrap(v.j, 3)}, "constant", v.x)), 6},
      {"flip", 1, RUN(v.a.flip({axis(v.a, v.i)}, v.site))},
      {"roll", 1, RUN(v.a.roll({wrap(v.j, 9) - 4}, {axis(v.a, v.i)}, v.site))},
      {"repeat", 1, repeated},
      {"repeat_interleave", 1,
       RUN(v.a.repeat_interleave(1 + wrap(v.j, 3), axis(v.a, v.i), v.site))},
      {"split", 1, split_part, 6},
      {"chunk", 1, chunk_part, 6},
      {"unbind", 1, unbind_part},
      {"diagonal", 1, RUN(v.a.diagonal(wrap(v.j, 3) - 1, 0, 1, v.site))},
      {"tril", 1, RUN(v.a.tril(wrap(v.j, 5) - 2, v.site))},
      {"triu", 1, RUN(v.a.triu(wrap(v.j, 5) - 2, v.site))},
      {"diag", 1, diagonal_matrix, 2},
      {"permute", 1, permuted, 6},
      {"scatter", 2,
       RUN(v.a.scatter(0, different_rows(v.b, v.a.size(0), v.j), v.b, v.site))},
      {"scatter_number", 1,
       RUN(v.a.scatter(0, different_rows(v.a, v.a.size(0), v.j), Scalar(v.x), v.site))},
      {"index_copy", 2,
       RUN(v.a.index_copy(0, different_positions(v.b.size(0), v.a.size(0), v.j), v.b, v.site))},
      {"index_fill", 1,
       RUN(v.a.index_fill(axis(v.a, v.i),
                          positions(1 + wrap(v.k, 4), v.a.size(axis(v.a, v.i)), v.j, 2), v.x,
                          v.site))},
      {"embedding", 1,
       RUN(groove::embedding(Arg(v.a, v.site),
                             positions(2 + wrap(v.k, 9), v.a.size(0), v.j, 1 + wrap(v.i, 4)))),
       8, true},
      {"masked_select", 1, RUN(v.a.masked_select(as_mask(v.a, v.site), v.site)), 1},
      {"nonzero", 1, RUN(v.a.nonzero(v.site)), 1},
      {"index_tensor", 1,
       RUN(v.a.index({positions(1 + wrap(v.k, 6), v.a.size(0), v.j, 3)}, v.site)), 4, true},
      {"index_mask", 2, RUN(v.a.index({as_mask(v.b, v.site)}, v.site)), 1},
      {"sort_values", 1,
       RUN(std::get<0>(v.a.sort(axis(v.a, v.i), (v.j & 1) != 0, v.site)))},
      {"sort_positions", 1,
       RUN(std::get<1>(v.a.sort(axis(v.a, v.i), (v.j & 1) != 0, v.site))), 2},
      {"topk", 1, topk_values},
      {"randperm", 1, RUN(groove::randperm(1 + wrap(v.j, 20), kLong, v.site))},
      {"bernoulli", 1, RUN(groove::bernoulli(Arg(v.a.sigmoid(v.site).detach(v.site), v.site)))},
      {"multinomial", 1,
       RUN(groove::multinomial(Arg(v.a.softmax(-1, std::nullopt, v.site).detach(v.site), v.site),
                               1 + wrap(v.j, 4), true)),
       2},
      {"eye", 0, RUN(groove::eye(1 + wrap(v.j, 7), kFloat, v.site))},
      {"linspace", 0, RUN(groove::linspace(-v.x, 1.5, 2 + wrap(v.j, 9), kFloat, v.site))},
  };
}

}  // namespace groove::random_programs
