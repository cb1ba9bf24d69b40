#include <cstdio>
#include <cstdlib>

#include "train.h"

// `program [steps]`
int main(int argc, char** argv) {
  for (const float loss : train(argc > 1 ? std::atoi(argv[1]) : 200)) std::printf("%a\n", loss);
}
