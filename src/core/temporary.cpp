#include "src/core/temporary.h"

namespace groove {

bool (*temporary_hook)(const TensorImpl& impl) = nullptr;

}  // namespace groove
