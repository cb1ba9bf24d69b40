// nn::utils::rnn: sequences of several lengths in one tensor, without padding between them.
#pragma once

#include <optional>
#include <tuple>

#include "groove/tensor.h"

namespace groove::nn::utils::rnn {

/// The steps of all sequences, the longest sequence first: data [sum of lengths, …] holds the first
/// step of each, then the second of each that has one, and so on; batch_sizes (i64) holds how many
/// have a step.
class PackedSequence {
 public:
  explicit PackedSequence(Tensor data, Tensor batch_sizes, Tensor sorted_indices = {},
                          Tensor unsorted_indices = {});
  const Tensor& data() const { return data_; }
  const Tensor& batch_sizes() const { return batch_sizes_; }
  /// Where each sequence was before they were sorted, and the inverse; undefined where they were
  /// sorted already.
  const Tensor& sorted_indices() const { return sorted_indices_; }
  const Tensor& unsorted_indices() const { return unsorted_indices_; }
  /// Itself where the data are that already.
  PackedSequence to(TensorOptions options) const;
  PackedSequence cpu() const { return to(TensorOptions(kCPU)); }
  PackedSequence cuda() const { return to(TensorOptions(kCUDA)); }
  bool is_cuda() const { return data_.is_cuda(); }

 private:
  Tensor data_, batch_sizes_, sorted_indices_, unsorted_indices_;
};

/// The permutation that undoes one; undefined for an undefined one.
Tensor invert_permutation(const Tensor& permutation);

/// input [T, N, …] ([N, T, …] with batch_first), lengths [N], positive, and descending unless
/// enforce_sorted is false. Waits for the lengths.
PackedSequence pack_padded_sequence(Tensor input, Tensor lengths, bool batch_first = false,
                                    bool enforce_sorted = true, Site site = Site::current());
/// (padded [T, N, …], lengths [N]); T is the greatest length, or total_length.
std::tuple<Tensor, Tensor> pad_packed_sequence(
    const PackedSequence& sequence, bool batch_first = false, double padding_value = 0,
    std::optional<std::int64_t> total_length = std::nullopt, Site site = Site::current());
/// Sequences [length, …] as [T, N, …] ([N, T, …] with batch_first).
Tensor pad_sequence(TensorList sequences, bool batch_first = false, double padding_value = 0,
                    Site site = Site::current());
PackedSequence pack_sequence(TensorList sequences, bool enforce_sorted = true,
                             Site site = Site::current());

}  // namespace groove::nn::utils::rnn
