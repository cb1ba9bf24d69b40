// Written by tools/compat-names: Groove's names as LibTorch's namespaces hold them.
#pragma once

#include "groove/compat/names/at.h"
#include "groove/compat/names/nn.h"
#include "groove/compat/names/torch.h"
