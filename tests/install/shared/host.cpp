// Loads the plugin, runs it and closes it, three times; what was recorded of its lines is compiled,
// told and left after that. `host <plugin> stays|goes`: a plugin goes of which nothing was
// recorded.
#include <dlfcn.h>
#include <groove/groove.h>
#include <groove/jit.h>

#include <cstdio>
#include <cstring>
#include <string>

#include "train.h"

int main(int, char** argv) {
  for (int turn = 0; turn < 3; ++turn) {
    void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    const auto run = reinterpret_cast<void (*)(int)>(dlsym(plugin, "run"));
    const auto add_one =
        reinterpret_cast<float (*)(const groove::Tensor&)>(dlsym(plugin, "add_one"));
    const auto fail = reinterpret_cast<const char* (*)()>(dlsym(plugin, "fail"));
    if (add_one(groove::ones({3})) != 6) return 2;
    if (std::strstr(fail(), "[2, 3]") == nullptr) return 3;
    run(turn == 2);
    dlclose(plugin);
    if ((dlopen(argv[1], RTLD_NOLOAD | RTLD_NOW) != nullptr) != (argv[2][0] == 's')) return 4;
    train(50);
    if (argv[2][0] == 's' && groove::jit::explain().find("train.h") == std::string::npos) return 5;
    for (const auto& segment : groove::jit::inspect())
      for (const auto& call : segment.calls)
        if (call.file.find('/') == std::string::npos)
          return std::fprintf(stderr, "%s of %s?\n", call.file.c_str(), call.call.c_str()), 6;
  }
}
