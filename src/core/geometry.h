// Questions about geometries over one storage: which elements they address, and whether twice.
#pragma once

#include "src/core/tensor_impl.h"

namespace groove {

/// Does the geometry address some element more than once? Exact for geometries whose strides nest
/// and for small ones, otherwise true when it may.
bool has_internal_overlap(const Geometry& geometry);

enum class Overlap : std::uint8_t { kNone, kSame, kSome };
/// How the elements of two geometries over one storage meet: kSome also when it is not known.
Overlap overlap(const Geometry& a, const Geometry& b);
/// Of tensors: kNone when their storages differ.
Overlap overlap(const TensorImpl& a, const TensorImpl& b);

/// May an operator that writes the one in place not read the other? LibTorch's rule: when the
/// memory of both has no gaps and they meet other than element by element.
bool overlap_partly(const TensorImpl& written, const TensorImpl& read);
bool overlap_partly(const Geometry& written, const Geometry& read);

/// Lowest and highest element addressed, relative to the storage; empty when low > high.
struct Extent {
  std::int64_t low, high;
};
Extent extent(const Geometry& geometry);

/// A dim that may count from the end, as an index; throws groove::Error naming op and shape.
/// A 0-d tensor has dims -1 and 0.
std::int64_t wrap_dim(const char* op, std::int64_t dim, IntArrayRef sizes);

}  // namespace groove
