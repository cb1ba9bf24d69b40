// A header of LibTorch: types and tensors of Groove.
#pragma once

#include "torch/types.h"
