// All of optim.
#pragma once

#include "groove/optim/adagrad.h"
#include "groove/optim/adam.h"
#include "groove/optim/lbfgs.h"
#include "groove/optim/lr_scheduler.h"
#include "groove/optim/rmsprop.h"
#include "groove/optim/sgd.h"
