// Tensors for the registry's test: random or special values in memory of many shapes, and
// comparison bit for bit or in units of the last place.
#pragma once

#include <string>
#include <vector>

#include "kernels/backend.h"
#include "src/core/dispatch.h"
#include "src/core/op.h"
#include "src/core/tensor_impl.h"

namespace groove::testing {

enum class Lay { kContiguous, kTransposed, kStepTwo, kOffset, kOverlapping };
inline constexpr Lay kLays[] = {Lay::kContiguous, Lay::kTransposed, Lay::kStepTwo, Lay::kOffset,
                                Lay::kOverlapping};
enum class Content { kDomain, kSpecial, kBits };  // kBits: half of the elements are any bits
inline constexpr Content kContents[] = {Content::kDomain, Content::kSpecial, Content::kBits};

struct Source {  // deterministic
  std::uint64_t state = 1;
  double next();  // [0, 1)
  std::uint64_t bits();
};

/// An undefined tensor for dtype Undefined. Special values are floating ones; integers get any bits
/// only where no op could take them for positions. The storage ends with the last element, which is
/// the last byte before a forbidden page when guard pages are on.
Tensor make_input(const Type& type, Domain domain, Lay lay, Content content, Source& source,
                  bool may_be_position = true);
Tensors make_inputs(const Op& op, const Sample& sample, Lay lay, Content content,
                    std::uint64_t seed = 0);
/// The same elements in row-major memory.
Tensor dense_copy(const Tensor& tensor);

/// OPS_UNDER_TEST=add,mul narrows the walks while one works on an op.
bool is_wanted(const Op& op);
/// Does the op's own check of values refuse these?
bool is_refused(const Op& op, const Sample& sample, const Tensors& inputs);

struct BackendScope {  // restores the current backend
  BackendScope() : previous(kernels::current_backend()) {}
  ~BackendScope() { kernels::set_current_backend(previous); }
  kernels::Backend& previous;
};

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
