// All of nn.
#pragma once

#include "groove/nn/activation.h"
#include "groove/nn/cloneable.h"
#include "groove/nn/containers.h"
#include "groove/nn/conv_transpose.h"
#include "groove/nn/convolution.h"
#include "groove/nn/embedding.h"
#include "groove/nn/functional.h"
#include "groove/nn/init.h"
#include "groove/nn/loss.h"
#include "groove/nn/modules.h"
#include "groove/nn/normalization.h"
#include "groove/nn/normalization_batch.h"
#include "groove/nn/pooling.h"
#include "groove/nn/recurrent.h"
#include "groove/nn/upsampling.h"
#include "groove/nn/utils.h"
