// New tensors whose elements follow a rule: ranges, positions in matrices, and window functions
// (default dtype; periodic ones leave out the last of one more element).
#pragma once

#include "groove/ops/creation.h"

namespace groove {

/// base to the power of `steps` values evenly spaced from start to end.
Tensor logspace(Scalar start, Scalar end, std::int64_t steps, double base = 10,
                TensorOptions options = {}, Site site = Site::current());
Tensor logspace(Arg start, const Tensor& end, std::int64_t steps, double base = 10,
                TensorOptions options = {});
Tensor logspace(Arg start, Scalar end, std::int64_t steps, double base = 10,
                TensorOptions options = {});
Tensor logspace(Scalar start, Arg end, std::int64_t steps, double base = 10,
                TensorOptions options = {});
/// start, start + step, … up to end, which is included; in the default dtype.
Tensor range(Scalar start, Scalar end, Scalar step, TensorOptions options = {},
             Site site = Site::current());
Tensor range(Scalar start, Scalar end, TensorOptions options = {}, Site site = Site::current());
/// Rows and columns [2, count] of the elements on and below (above) a diagonal, row-major.
Tensor tril_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    TensorOptions options = kLong, Site site = Site::current());
Tensor triu_indices(std::int64_t row, std::int64_t col, std::int64_t offset = 0,
                    TensorOptions options = kLong, Site site = Site::current());
/// Unwritten memory with given distances between elements, which must be those of a contiguous
/// tensor with its axes in some order.
Tensor empty_strided(IntArrayRef size, IntArrayRef stride, TensorOptions options = {},
                     Site site = Site::current());

Tensor bartlett_window(std::int64_t window_length, TensorOptions options = {},
                       Site site = Site::current());
Tensor bartlett_window(std::int64_t window_length, bool periodic, TensorOptions options = {},
                       Site site = Site::current());
Tensor hann_window(std::int64_t window_length, TensorOptions options = {},
                   Site site = Site::current());
Tensor hann_window(std::int64_t window_length, bool periodic, TensorOptions options = {},
                   Site site = Site::current());
Tensor blackman_window(std::int64_t window_length, TensorOptions options = {},
                       Site site = Site::current());
Tensor blackman_window(std::int64_t window_length, bool periodic, TensorOptions options = {},
                       Site site = Site::current());
Tensor hamming_window(std::int64_t window_length, TensorOptions options = {},
                      Site site = Site::current());
Tensor hamming_window(std::int64_t window_length, bool periodic, TensorOptions options = {},
                      Site site = Site::current());
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha,
                      TensorOptions options = {}, Site site = Site::current());
Tensor hamming_window(std::int64_t window_length, bool periodic, double alpha, double beta,
                      TensorOptions options = {}, Site site = Site::current());
Tensor kaiser_window(std::int64_t window_length, TensorOptions options = {},
                     Site site = Site::current());
Tensor kaiser_window(std::int64_t window_length, bool periodic, TensorOptions options = {},
                     Site site = Site::current());
Tensor kaiser_window(std::int64_t window_length, bool periodic, double beta,
                     TensorOptions options = {}, Site site = Site::current());

}  // namespace groove
