#include "src/io/dtype_names.h"

#include "src/core/check.h"

namespace groove::serialize {
namespace {

struct Name {
  ScalarType dtype;
  const char* text;
};
constexpr Name kNames[] = {{kDouble, "F64"},    {kFloat, "F32"},        {kHalf, "F16"},
                           {kBFloat16, "BF16"}, {kLong, "I64"},         {kInt, "I32"},
                           {kShort, "I16"},     {kChar, "I8"},          {kByte, "U8"},
                           {kBool, "BOOL"},     {kComplexFloat, "C64"}, {kComplexDouble, "C128"}};

}  // namespace

const char* file_name_of(ScalarType dtype) {
  for (const Name& name : kNames)
    if (name.dtype == dtype) return name.text;
  throw_error(fmt::format("save: tensors of dtype {} have no form in a file", name(dtype)));
}

ScalarType dtype_of_file_name(const std::string& text) {
  for (const Name& name : kNames)
    if (name.text == text) return name.dtype;
  return ScalarType::Undefined;
}

}  // namespace groove::serialize
