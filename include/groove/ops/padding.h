// Padding by a tensor's own elements, named by the number of axes. `padding` holds pairs (before,
// after) from the last axis on; self has one or two axes more than are padded.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// Mirrored at the outer elements, which are not repeated.
Tensor reflection_pad1d(Arg self, IntArrayRef padding);
Tensor reflection_pad2d(Arg self, IntArrayRef padding);
Tensor reflection_pad3d(Arg self, IntArrayRef padding);
/// The outer elements again and again.
Tensor replication_pad1d(Arg self, IntArrayRef padding);
Tensor replication_pad2d(Arg self, IntArrayRef padding);
Tensor replication_pad3d(Arg self, IntArrayRef padding);

}  // namespace groove
