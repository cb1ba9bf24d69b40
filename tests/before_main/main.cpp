// What static objects computed, seen from main(); with an argument, a plugin that is opened here
// and has static objects of its own.
#include <dlfcn.h>

#include <cstdio>
#include <thread>

#include "parts.h"

int main(int count, char** arguments) {
  check(table.sum().item<float>() == 4, "a view written before main()");
  groove::manual_seed(7);
  check(groove::equal(drawn, groove::randn({3, 2})), "numbers drawn before main()");
  check(local.sum().item<float>() == 6, "a thread_local tensor");
  std::thread([] { check((local * 2).sum().item<float>() == 12, "one of another thread"); }).join();
  check(train(500) == loss_before_main, "a loop before main()");
  if (count > 1) {
    void* const plugin = dlopen(arguments[1], RTLD_NOW);
    check(plugin, plugin ? "" : dlerror());
    const auto ask = reinterpret_cast<float (*)()>(dlsym(plugin, "ask_plugin"));
    check(ask && ask() == 10, "the static objects of a plugin");
  }
  std::puts("main: right");
}
