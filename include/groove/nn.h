// All of nn.
#pragma once

#include "groove/nn/containers.h"
#include "groove/nn/functional.h"
#include "groove/nn/init.h"
#include "groove/nn/modules.h"
