// embedding_bag: rows of a table, reduced bag by bag; spelled with embedding and index_add.
#include <limits>

#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/views.h"
#include "kernels/ops/class_mask.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

enum Mode : std::int64_t { kSumMode, kMeanMode, kMaxMode };

// The bag of each position: how many bags have begun, less one.
Tensor bag_of_each(const Tensor& begins, std::int64_t length) {
  const Tensor marks =
      index_add(zeros({length + 1}, kLong), 0, begins, ones({begins.size(0)}, kLong));
  return cumsum(narrow(marks, 0, 0, length), 0) - 1;
}

// Values and positions; -inf where a bag has nothing.
std::tuple<Tensor, Tensor> greatest(const Tensor& rows, const Tensor& bag, const Tensor& counts,
                                    std::int64_t bags) {
  const Tensor is_in_bag = logical_and(class_mask(unsqueeze(bag, 1), bags), unsqueeze(counts, 1));
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  return max(where(unsqueeze(is_in_bag.t(), 2), unsqueeze(rows, 0), kNone), 1);
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor, Tensor> embedding_bag(Arg weight, const Tensor& indices,
                                                         const Tensor& offsets,
                                                         bool scale_grad_by_freq, std::int64_t mode,
                                                         bool, const Tensor& per_sample_weights,
                                                         bool include_last_offset,
                                                         std::optional<std::int64_t> padding_idx) {
  const SiteScope scope(weight.site);
  const char* name = "embedding_bag";
  const Shape table = checked(name, *weight.tensor).geometry.sizes,
              list = checked(name, indices).geometry.sizes,
              begin_list = checked(name, offsets).geometry.sizes;
  GROOVE_CHECK(table.size() == 2 && list.size() == 1 && begin_list.size() == 1,
               "{}: weight {}, indices {} and offsets {} must be [V, E], [L] and [bags]", name,
               to_string(table), to_string(list), to_string(begin_list));
  GROOVE_CHECK(mode >= kSumMode && mode <= kMaxMode, "{}: mode {} is none of 0, 1 and 2", name,
               mode);
  GROOVE_CHECK(mode != kMaxMode || !scale_grad_by_freq,
               "{}: the greatest elements have no gradients by frequency", name);
  GROOVE_CHECK(!per_sample_weights.defined() ||
                   (mode == kSumMode && per_sample_weights.sizes() == IntArrayRef(list)),
               "{}: per_sample_weights need mode 0 and the shape of indices", name);
  const std::int64_t length = list[0], bags = begin_list[0] - (include_last_offset ? 1 : 0);
  GROOVE_CHECK(bags >= 0, "{}: include_last_offset needs at least one offset", name);
  const std::int64_t rows_of_table = table[0], width = table[1];
  std::int64_t padding = padding_idx.value_or(-1);
  GROOVE_CHECK(!padding_idx || (padding >= -rows_of_table && padding < rows_of_table),
               "{}: padding_idx {} is out of range for {} rows", name, padding, rows_of_table);
  if (padding_idx && padding < 0) padding += rows_of_table;

  const Tensor bag = bag_of_each(narrow(offsets, 0, 0, bags), length);
  const Tensor counts = padding < 0 ? ones({length}, kBool) : ne(indices, padding);
  const Tensor sizes = index_add(zeros({bags}, kLong), 0, bag, counts.to(kLong));
  Tensor rows = embedding(*weight.tensor, indices, padding, scale_grad_by_freq);
  const ScalarType dtype = type_of(rows).dtype;
  if (length == 0 || bags == 0) return {zeros({bags, width}, dtype), bag, sizes, zeros({0}, kLong)};
  if (mode == kMaxMode) {
    const auto [values, positions] = greatest(rows, bag, counts, bags);
    const Tensor taken = index_select(indices, 0, reshape(positions, {-1})).view({bags, width});
    return {where(unsqueeze(gt(sizes, 0), 1), values, 0), bag, sizes, taken};
  }
  if (per_sample_weights.defined()) rows = rows * unsqueeze(per_sample_weights, 1);
  if (padding >= 0) rows = where(unsqueeze(counts, 1), rows, 0);
  Tensor result = index_add(zeros({bags, width}, type_of(rows).dtype), 0, bag, rows);
  if (mode == kMeanMode) result = result / unsqueeze(clamp_min(sizes, 1), 1).to(dtype);
  return {result, bag, sizes, zeros({0}, kLong)};
}

}  // namespace groove
