// Tables of numbers in text files. Not included by groove/groove.h: LibTorch programs have
// functions of this name.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "groove/arg.h"
#include "groove/tensor.h"

namespace groove {

struct CsvOptions {
  GROOVE_ARG(char, delimiter) = ',';
  /// Is the first row one of names? Unless told, it is when one of its fields is no number.
  GROOVE_ARG(std::optional<bool>, header);
  /// Of the tensor; the default dtype unless told.
  GROOVE_ARG(std::optional<ScalarType>, dtype);
  /// What stands for no value, besides an empty field: NaN, which integers have not.
  GROOVE_ARG(std::vector<std::string>, missing) = {"NA", "N/A", "null"};
  /// Only these, by the names in the header, in this order; all unless told.
  GROOVE_ARG(std::vector<std::string>, columns);
};

struct CsvTable {
  Tensor values;                   // [rows, columns]
  std::vector<std::string> names;  // of the columns; empty without a header
  /// The values of one column, [rows]: a view. Throws groove::Error when there is none.
  Tensor column(const std::string& name, Site site = Site::current()) const;
};

/// The numbers of a file: rows of fields, which may stand in quotes ("" inside is a quote) and have
/// blanks around them; lines end with \n or \r\n, empty ones are left out. Numbers are rounded to
/// the dtype; true and false are 1 and 0. Throws groove::Error naming the file, line and column of
/// what is no number of this dtype, and of rows of another length.
CsvTable load_csv(const std::string& path, const CsvOptions& options = {},
                  Site site = Site::current());

}  // namespace groove
