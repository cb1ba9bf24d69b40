#include <cstdio>

#include "train.h"

// Whether the plugin's tensors are those of the program that loaded it.
extern "C" float add_one(const groove::Tensor& x) { return (x + 1).sum().item<float>(); }

extern "C" void run(int prints) {
  for (const float loss : train(200))
    if (prints) std::printf("%a\n", loss);
}

extern "C" const char* fail() {
  static std::string message;
  try {
    groove::ones({2, 3}).matmul(groove::ones({2, 3}));
  } catch (const groove::Error& error) {
    message = error.what();
  }
  return message.c_str();
}
