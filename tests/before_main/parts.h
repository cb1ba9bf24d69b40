// Static objects of several files that use Groove before main() and after it.
#pragma once

#include <groove/groove.h>

/// Trains a small network for `steps` steps and returns the last loss; the same each time.
float train(int steps);
/// Throws unless `is_right`, naming `what`.
void check(bool is_right, const char* what);

extern groove::Tensor table;               // tensors.cpp
extern groove::Tensor drawn;               // tensors.cpp
extern thread_local groove::Tensor local;  // tensors.cpp
extern const float loss_before_main;       // modules.cpp
