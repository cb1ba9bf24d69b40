// How much memory segments take, and programs that belong to loops without being one (functions of
// control flow, backwards of results that were kept), and which go when it is too much: those whose
// last runs saved least for what they hold.
#pragma once

#include <cstddef>
#include <vector>

#include "tracer/calls/segment.h"

namespace groove::tracer {

/// That a run stands for.
std::size_t operators_of(const Segment& segment);
/// Calls, graph, code, and the arena of one thread: roughly.
std::size_t bytes_of(const Segment& segment);

/// The bytes in force: set_cache_bytes(), else GROOVE_CACHE_BYTES.
std::size_t cache_bytes();
void set_cache_bytes(std::size_t bytes);  // 0: as the environment says

/// Arenas of fewer bytes are kept while a loop is idle, and hold no gradients (commit.cpp).
std::size_t large_arena();
void set_large_arena(std::size_t bytes);  // tests; 0: as ever

/// What must go so that all fit, the least valuable first; never `kept`. The working memory of the
/// largest step comes on top of the bytes in force. Where something must, past runs count half from
/// then on. `left`: so many bytes may be added until all are to be asked again.
std::vector<SegmentPtr> over_budget(const std::vector<SegmentPtr>& segments, const Segment& kept,
                                    std::size_t& left);

}  // namespace groove::tracer
