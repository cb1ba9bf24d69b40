// Images [.., C, H, W] whose borders are continued or whose channels become places and back. All
// are copies. Shapes that do not fit throw groove::Error.
#pragma once

#include "groove/tensor.h"

namespace groove {

/// `padding` holds pairs (before, after) from the last axis on; self has one or two more axes than
/// are padded. The elements are reflected at the outermost ones; negative numbers cut.
Tensor reflection_pad1d(Arg self, IntArrayRef padding);
Tensor reflection_pad2d(Arg self, IntArrayRef padding);
Tensor reflection_pad3d(Arg self, IntArrayRef padding);
/// The outermost elements are repeated.
Tensor replication_pad1d(Arg self, IntArrayRef padding);
Tensor replication_pad2d(Arg self, IntArrayRef padding);
Tensor replication_pad3d(Arg self, IntArrayRef padding);

/// [.., C r^2, H, W] -> [.., C, H r, W r] (Shi et al. 2016)
Tensor pixel_shuffle(Arg self, std::int64_t upscale_factor);
/// [.., C, H r, W r] -> [.., C r^2, H, W]
Tensor pixel_unshuffle(Arg self, std::int64_t downscale_factor);
/// [N, C, ..]: channel i of group g of C / groups changes places with group i, channel g (Zhang et
/// al. 2018).
Tensor channel_shuffle(Arg self, std::int64_t groups);

}  // namespace groove
