// One library's side of build/bench/memory: `memory_… <anchor> <steps before> <steps>` trains an
// anchor's model and answers `<name>`, then, in bytes, `<peak from the first step on> <peak of a
// steady step> <held between steps>`. Built once with each library.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "../anchors/anchors_models.h"
#include "watch.h"

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr,
                 "usage: %s <anchor> <steps before> <steps>; build/bench/memory starts it\n",
                 argv[0]);
    return 2;
  }
  try {
    MemoryWatch watch;
    const auto anchor = make_anchor(argv[1]);
    // Blocks, because each reads what it computed: a step alone is one whose work may be put off.
    const long before = std::atol(argv[2]), steps = std::atol(argv[3]);
    anchor->run(before);
    const std::size_t whole = watch.peak();
    watch.begin_steady();
    anchor->run(steps);
    std::printf("%s\n%zu %zu %zu\n", watch.library().c_str(), whole, watch.peak(), watch.held());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[0], error.what());
    return 1;
  }
}
