#include "src/core/op_kind.h"

namespace groove {

const char* name(OpKind kind) {
  switch (kind) {
    case OpKind::kElementwise:
      return "elementwise";
    case OpKind::kView:
      return "view";
    case OpKind::kIndexMap:
      return "index map";
    case OpKind::kReduction:
      return "reduction";
    case OpKind::kContraction:
      return "contraction";
    case OpKind::kComposite:
      return "composite";
    case OpKind::kOpaque:
    case OpKind::kBig:
      break;
  }
  return "opaque";
}

}  // namespace groove
