// A program without Groove that loads a plugin with it.
#include <dlfcn.h>

#include <cstdio>

int main(int, char** argv) {
  for (int turn = 0; turn < 2; ++turn) {
    void* const plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return std::fprintf(stderr, "%s\n", dlerror()), 1;
    reinterpret_cast<void (*)(int)>(dlsym(plugin, "run"))(turn);
    dlclose(plugin);
  }
}
