// All of optim.
#pragma once

#include "groove/optim/adadelta.h"
#include "groove/optim/adagrad.h"
#include "groove/optim/adam.h"
#include "groove/optim/adamax.h"
#include "groove/optim/asgd.h"
#include "groove/optim/lbfgs.h"
#include "groove/optim/lion.h"
#include "groove/optim/lr_scheduler.h"
#include "groove/optim/muon.h"
#include "groove/optim/nadam.h"
#include "groove/optim/radam.h"
#include "groove/optim/rmsprop.h"
#include "groove/optim/rprop.h"
#include "groove/optim/sgd.h"
