// The smallest program that uses Groove; without a loop, so that nothing is compiled by LLVM.
#include <groove/groove.h>

int main() { return groove::ones({2}).sum().item<float>() == 2 ? 0 : 1; }
