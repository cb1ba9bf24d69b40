// A header of LibTorch: all of Groove.
#pragma once

#include "groove/compat/torch/torch.h"
