// The public thread settings, over the kernel pool.
#include "groove/parallel.h"
#include "kernels/pool.h"
#include "src/core/check.h"
#include "src/core/environment.h"

namespace groove {
namespace {

[[maybe_unused]] const bool is_registered = [] {
  when_environment_is_read([](const Environment& environment) {
    if (environment.num_threads > 0) kernels::set_kernel_threads(environment.num_threads);
  });
  return true;
}();

}  // namespace

void set_num_threads(int threads) {
  ensure_environment();
  GROOVE_CHECK(threads >= 1, "set_num_threads: {} is not a number of threads; use 1 or more",
               threads);
  kernels::set_kernel_threads(threads);
}

int get_num_threads() {
  ensure_environment();
  return kernels::num_threads();
}

void set_num_interop_threads(int threads) {
  GROOVE_CHECK(threads >= 1, "set_num_interop_threads: {} is not a number of threads", threads);
}
int get_num_interop_threads() { return 1; }

}  // namespace groove
