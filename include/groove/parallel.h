// How many threads a kernel may use.
#pragma once

namespace groove {

/// Overrides GROOVE_NUM_THREADS; at least 1. Results do not depend on it.
void set_num_threads(int threads);
int get_num_threads();
/// Accepted for LibTorch programs: Groove runs one op at a time.
void set_num_interop_threads(int threads);
int get_num_interop_threads();

}  // namespace groove
