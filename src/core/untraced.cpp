#include "src/core/untraced.h"

namespace groove::detail {

UntracedScope::UntracedScope() { ++untraced_depth; }
UntracedScope::~UntracedScope() { --untraced_depth; }

}  // namespace groove::detail
