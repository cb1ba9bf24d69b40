// All of data.
#pragma once

#include "groove/data/chunk.h"
#include "groove/data/data_loader.h"
#include "groove/data/datasets.h"
#include "groove/data/images.h"
#include "groove/data/samplers.h"
#include "groove/data/transforms.h"

namespace groove::data {
using datasets::BatchDataset;
using datasets::Dataset;
}  // namespace groove::data
