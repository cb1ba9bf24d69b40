// A header of LibTorch: all of Groove. Written by tools/compat-headers.
#pragma once

#include "groove/compat/torch/torch.h"
