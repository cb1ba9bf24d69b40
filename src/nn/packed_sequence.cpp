#include "groove/nn/packed_sequence.h"

#include <algorithm>

#include "groove/detail/call_scope.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/small_vector.h"

namespace groove::nn::utils::rnn {
namespace {

using Integers = std::vector<std::int64_t>;

Integers integers_of(const Tensor& tensor) {
  const Tensor plain = tensor.to(kLong).contiguous();
  const std::int64_t* const values = plain.const_data_ptr<std::int64_t>();
  return Integers(values, values + plain.numel());
}

Tensor tensor_of(const Integers& values) {
  Tensor result = empty({static_cast<std::int64_t>(values.size())}, kLong);
  std::copy(values.begin(), values.end(), result.data_ptr<std::int64_t>());
  return result;
}

// The size of a tensor whose two leading axes are made one, or one made two.
Integers with_leading(const Tensor& tensor, std::int64_t skipped, Integers leading) {
  for (std::int64_t axis = skipped; axis < tensor.dim(); ++axis)
    leading.push_back(tensor.size(axis));
  return leading;
}

// Rows of [T * N, …] in the order of the packed data.
Tensor packed_rows(const Integers& batch_sizes, std::int64_t batch) {
  Integers rows;
  for (std::size_t t = 0; t < batch_sizes.size(); ++t)
    for (std::int64_t n = 0; n < batch_sizes[t]; ++n)
      rows.push_back(static_cast<std::int64_t>(t) * batch + n);
  return tensor_of(rows);
}

}  // namespace

PackedSequence::PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices,
                               Tensor unsorted_indices)
    : data_(std::move(data)),
      batch_sizes_(std::move(batch_sizes)),
      sorted_indices_(std::move(sorted_indices)),
      unsorted_indices_(unsorted_indices.defined() ? std::move(unsorted_indices)
                                                   : invert_permutation(sorted_indices_)) {}

PackedSequence PackedSequence::to(TensorOptions options) const {
  const Tensor data = data_.to(options);
  if (data.is_same(data_)) return *this;
  const auto moved = [&](const Tensor& indices) {
    return indices.defined() ? indices.to(data.device()) : Tensor();
  };
  return PackedSequence(data, batch_sizes_, moved(sorted_indices_), moved(unsorted_indices_));
}

Tensor invert_permutation(const Tensor& permutation) {
  return permutation.defined() ? argsort(permutation) : Tensor();
}

PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first,
                                    bool enforce_sorted, Site site) {
  const groove::detail::CallScope scope(site);
  GROOVE_CHECK(input.numel() > 0, "pack_padded_sequence: Cannot pack empty tensors.");
  GROOVE_CHECK(
      input.dim() >= 2 && lengths.dim() == 1 && lengths.size(0) == input.size(batch_first ? 0 : 1),
      "pack_padded_sequence: Expected `len(lengths)` to be equal to batch_size: the input "
      "has shape {}, lengths {}",
      to_string(input.sizes()), to_string(lengths.sizes()));
  Tensor order;
  if (!enforce_sorted) {
    std::tie(lengths, order) = sort(lengths, -1, true);
    input = index_select(input, batch_first ? 0 : 1, order);
  }
  const Tensor steps_first = batch_first ? transpose(input, 0, 1) : input;
  const std::int64_t steps = steps_first.size(0), batch = steps_first.size(1);
  const Integers each = integers_of(lengths);
  Integers batch_sizes(
      static_cast<std::size_t>(each.empty() ? 0 : std::max<std::int64_t>(each[0], 0)));
  for (std::size_t n = 0; n < each.size(); ++n) {
    GROOVE_CHECK(each[n] > 0 && each[n] <= steps,
                 "pack_padded_sequence: length {} of sequence {} is not within 1 and the input's "
                 "{} steps",
                 each[n], n, steps);
    GROOVE_CHECK(n == 0 || each[n] <= each[n - 1],
                 "pack_padded_sequence: `lengths` array must be sorted in decreasing order when "
                 "`enforce_sorted` is True. You can pass `enforce_sorted=False` to "
                 "pack_padded_sequence and/or pack_sequence to sidestep this requirement");
    for (std::int64_t t = 0; t < each[n]; ++t) ++batch_sizes[static_cast<std::size_t>(t)];
  }
  const Tensor flat = reshape(steps_first, with_leading(steps_first, 2, {steps * batch}));
  return PackedSequence(index_select(flat, 0, packed_rows(batch_sizes, batch)),
                        tensor_of(batch_sizes), order);
}

std::tuple<Tensor, Tensor> pad_packed_sequence(const PackedSequence& sequence, bool batch_first,
                                               double padding_value,
                                               std::optional<std::int64_t> total_length,
                                               Site site) {
  const groove::detail::CallScope scope(site);
  const Integers batch_sizes = integers_of(sequence.batch_sizes());
  const auto longest = static_cast<std::int64_t>(batch_sizes.size());
  GROOVE_CHECK(!batch_sizes.empty(), "pad_packed_sequence: there are no steps");
  GROOVE_CHECK(!total_length || *total_length >= longest,
               "pad_packed_sequence: Expected total_length to be at least the length of the "
               "longest sequence in input, but got total_length={} and max sequence length being "
               "{}",
               *total_length, longest);
  const std::int64_t steps = total_length.value_or(longest), batch = batch_sizes[0];
  const Tensor& data = sequence.data();
  const Tensor padding =
      full(with_leading(data, 1, {steps * batch}), padding_value, data.options());
  const Tensor flat = index_copy(padding, 0, packed_rows(batch_sizes, batch), data);
  Tensor padded = reshape(flat, with_leading(data, 1, {steps, batch}));
  if (batch_first) padded = transpose(padded, 0, 1);
  Integers lengths(static_cast<std::size_t>(batch));
  for (const std::int64_t size : batch_sizes)
    for (std::int64_t n = 0; n < size; ++n) ++lengths[static_cast<std::size_t>(n)];
  const Tensor& order = sequence.unsorted_indices();
  if (!order.defined()) return {padded, tensor_of(lengths)};
  return {index_select(padded, batch_first ? 0 : 1, order),
          index_select(tensor_of(lengths), 0, order)};
}

Tensor pad_sequence(TensorList sequences, bool batch_first, double padding_value, Site site) {
  const groove::detail::CallScope scope(site);
  GROOVE_CHECK(sequences.size() > 0, "pad_sequence: received an empty list of sequences");
  std::int64_t steps = 0;
  for (const Tensor& sequence : sequences) {
    GROOVE_CHECK(sequence.dim() > 0 && sequence.sizes().slice(1) == sequences[0].sizes().slice(1),
                 "pad_sequence: sequences have shapes {} and {}; all but the first axis must agree",
                 to_string(sequences[0].sizes()), to_string(sequence.sizes()));
    steps = std::max(steps, sequence.size(0));
  }
  std::vector<Tensor> rows;
  for (const Tensor& sequence : sequences) {
    const Tensor padding = full(with_leading(sequence, 1, {steps - sequence.size(0)}),
                                padding_value, sequence.options());
    rows.push_back(cat({sequence, padding}, 0));
  }
  return stack(rows, batch_first ? 0 : 1);
}

PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted, Site site) {
  Integers lengths;
  for (const Tensor& sequence : sequences)
    lengths.push_back(sequence.dim() > 0 ? sequence.size(0) : 0);
  return pack_padded_sequence(pad_sequence(sequences, false, 0, site), tensor_of(lengths), false,
                              enforce_sorted, site);
}

}  // namespace groove::nn::utils::rnn
