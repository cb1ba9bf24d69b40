// Warnings: what is allowed and most likely not meant. One for each line of the program.
#pragma once

#include <functional>
#include <string>

#include "groove/detail/tensor_base.h"

namespace groove {

/// Is given the text and the line of the program that it is about.
using WarningHandler = std::function<void(const std::string& text, const Site& site)>;

/// What becomes of warnings from now on; returns what did before. An empty handler stands for the
/// default: "file:line: warning: text" on standard error.
WarningHandler set_warning_handler(WarningHandler handler);

/// Warns, unless this line of the program has been given this text before.
void warn(const std::string& text, const Site& site = Site::current());
/// Warns each time.
void warn_each_time(const std::string& text, const Site& site = Site::current());

/// Whether warn() warns each time; returns what held before.
bool set_warn_always(bool is_always);
bool warns_always();

}  // namespace groove
