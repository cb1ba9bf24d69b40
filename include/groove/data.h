// All of data.
#pragma once

#include "groove/data/data_loader.h"
#include "groove/data/datasets.h"
#include "groove/data/samplers.h"
#include "groove/data/transforms.h"
