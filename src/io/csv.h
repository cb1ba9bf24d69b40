// Tables of numbers in bytes that are there already.
#pragma once

#include <string>
#include <string_view>

#include "groove/csv.h"

namespace groove::serialize {

CsvTable read_csv(std::string_view bytes, const std::string& file, const CsvOptions& options);

}  // namespace groove::serialize
