// Fails when a header that programs include has grown: more lines of our own after preprocessing,
// or more standard headers that it asks for. `header_lines <compiler> <include folder>`. What it
// costs in time is what build/bench/headers measures.
#include <cstdio>
#include <exception>

#include "bench/headers/preprocessed.h"

namespace {

struct Limit {
  headers::Library library;
  std::size_t own_lines, asked;
};

bool is_within(const char* compiler, const Limit& limit) {
  const headers::Preprocessed found = headers::preprocess(compiler, limit.library);
  std::printf("%s: %zu lines of ours, at most %zu; %zu standard headers, at most %zu\n",
              limit.library.header.c_str(), found.own_lines, limit.own_lines, found.asked.size(),
              limit.asked);
  return found.own_lines <= limit.own_lines && found.asked.size() <= limit.asked;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: header_lines <compiler> <include folder>\n");
    return 2;
  }
  const std::string include = argv[2];
  const Limit limits[] = {
      {{"groove/groove.h", {include}}, 10380, 16},
      {{"torch/torch.h", {include + "/groove/compat", include}}, 13060, 44},
  };
  try {
    bool is_good = true;
    for (const Limit& limit : limits) is_good &= is_within(argv[1], limit);
    return is_good ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "header_lines: %s\n", error.what());
    return 1;
  }
}
