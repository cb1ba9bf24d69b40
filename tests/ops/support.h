// Tensors for the registry's test: random or special values in memory of many shapes, and
// comparison bit for bit or in units of the last place.
#pragma once

#include <string>
#include <vector>

#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove::testing {

enum class Lay { kContiguous, kTransposed, kStepTwo, kOffset, kOverlapping };
inline constexpr Lay kLays[] = {Lay::kContiguous, Lay::kTransposed, Lay::kStepTwo, Lay::kOffset,
                                Lay::kOverlapping};
enum class Content { kDomain, kSpecial };

struct Source {  // deterministic
  std::uint64_t state = 1;
  double next();  // [0, 1)
};

/// An undefined tensor for dtype Undefined. Integers lie in the domain whatever the content.
Tensor make_input(const Type& type, Domain domain, Lay lay, Content content, Source& source);
Tensors make_inputs(const Op& op, const Sample& sample, Lay lay, Content content);

double value_at(const Tensor& tensor, const Shape& index);
void set_value(const Tensor& tensor, const Shape& index, double value);
Reference read(const Tensor& tensor);

Tensors run(const Op& op, const Sample& sample, const Tensors& inputs, bool is_inplace = false);
/// Empty when equal; NaN equals NaN, -0.0 differs from 0.0.
std::string bit_difference(const Tensor& a, const Tensor& b);
/// Empty when within the op's tolerance.
std::string reference_difference(const Op& op, const Tensor& actual, const Reference& expected);
std::string describe(const Op& op, const Sample& sample);

}  // namespace groove::testing
