// The GPU, as LibTorch programs ask for it. There is none until the backend exists.
#pragma once

#include <cstdint>

namespace groove::cuda {

inline bool is_available() { return false; }
inline bool cudnn_is_available() { return false; }
inline int device_count() { return 0; }
inline void synchronize(std::int64_t = -1) {}
/// The CPU's draws do not depend on a GPU's seed.
inline void manual_seed(std::uint64_t) {}
inline void manual_seed_all(std::uint64_t) {}

}  // namespace groove::cuda
