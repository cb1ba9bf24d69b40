// What Embedding and EmbeddingBag do with the rows of their tables.
#pragma once

#include <optional>

#include "groove/tensor.h"

namespace groove::nn {

/// A row of padding counted from the start; -1 for none. Throws groove::Error when out of range.
std::int64_t padding_row(const char* name, std::optional<std::int64_t> index, std::int64_t rows);

/// The rows at `indices` whose norm is greater than max_norm are scaled down to it, in place.
void renormalise(const Tensor& weight, const Tensor& indices, double max_norm, double norm_type);

}  // namespace groove::nn
