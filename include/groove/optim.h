// All of optim.
#pragma once

#include "groove/optim/adam.h"
#include "groove/optim/sgd.h"
