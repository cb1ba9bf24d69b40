// A header of LibTorch: all of Groove.
#pragma once

#include "torch/torch.h"
