// LibTorch's header of DLPack's structures.
#pragma once

#include "groove/dlpack.h"
