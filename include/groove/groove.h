// Everything public. For one include at the top of a program.
#pragma once

#include "groove/accessor.h"
#include "groove/array_ref.h"
#include "groove/cuda.h"
#include "groove/dtype.h"
#include "groove/error.h"
#include "groove/factories.h"
#include "groove/indexing.h"
#include "groove/memory.h"
#include "groove/ops/contractions.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/options.h"
#include "groove/parallel.h"
#include "groove/random.h"
#include "groove/scalar.h"
#include "groove/tensor.h"
#include "groove/types.h"

// Families still being built up.
#if __has_include("groove/autograd.h")
#include "groove/autograd.h"
#endif
#if __has_include("groove/jit.h")
#include "groove/jit.h"
#endif
#if __has_include("groove/nn.h")
#include "groove/nn.h"
#endif
#if __has_include("groove/optim.h")
#include "groove/optim.h"
#endif
#if __has_include("groove/data.h")
#include "groove/data.h"
#endif
