// A header of LibTorch: types and tensors of Groove.
#pragma once

#include "groove/compat/torch/types.h"
