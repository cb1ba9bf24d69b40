// What scatter and scatter_add share.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// The part of a source that an index of no greater sizes reaches.
Tensor cut_to_index(const char* op, const Tensor& source, const Tensor& index, Site site);

}  // namespace groove
