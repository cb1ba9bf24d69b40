// One program for one graph: what is recorded again, by another model or optimizer of the same
// structure or by another thread, is run by the program that there is.
#pragma once

#include <functional>
#include <memory>

#include "jit/program.h"

namespace groove::jit {

/// The program that was made of an equal graph, if it is still in use or was until lately; else
/// made now. Equal are graphs of which the same code comes: operators, attributes, numbers (those
/// of a run with the values that they were recorded with), types, layouts, stages and lines.
/// `is_quick`: one that was made without dear passes will do, if there is no other.
std::shared_ptr<Program> shared_program(Graph graph, bool is_quick,
                                        const std::function<std::shared_ptr<Program>(Graph)>& make);
/// What is asked for from now on is made anew, as where passes have changed. What runs goes on.
void forget_shared_programs();

}  // namespace groove::jit
