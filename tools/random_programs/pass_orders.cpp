#include "tools/random_programs/pass_orders.h"

#include <algorithm>
#include <random>

namespace groove::random_programs {

std::vector<jit::Pass> draw_passes(PassChoice choice, std::uint64_t seed) {
  std::vector<jit::Pass> order;
  if (choice == PassChoice::kAsIs) return jit::passes();
  if (choice == PassChoice::kOff) {
    std::copy_if(jit::passes().begin(), jit::passes().end(), std::back_inserter(order),
                 [](const jit::Pass& pass) { return pass.makes != jit::kAnyGraph; });
    return order;
  }
  std::mt19937_64 random(seed);
  std::vector<jit::Pass> left;
  unsigned wanted = 0;
  for (const jit::Pass& pass : jit::passes()) {
    wanted |= pass.makes;
    if (pass.makes != jit::kAnyGraph) {
      left.push_back(pass);
      continue;
    }
    static constexpr int kTimes[] = {0, 1, 1, 1, 2};
    left.insert(left.end(), static_cast<std::size_t>(kTimes[random() % 5]), pass);
  }
  unsigned made = 0;
  while (!left.empty()) {
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const bool is_last = (left[i].makes & jit::kOwnMemory) != 0;
      if ((left[i].needs & ~made) == 0 && (!is_last || left.size() == 1)) ready.push_back(i);
    }
    if (ready.empty()) throw Error("random-programs: the passes' needs allow no order");
    const std::size_t next = ready[random() % ready.size()];
    made |= left[next].makes;
    order.push_back(left[next]);
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(next));
  }
  if (made != wanted) throw Error("random-programs: a pass is missing");
  return order;
}

std::string print(const std::vector<jit::Pass>& passes) {
  std::string text;
  for (const jit::Pass& pass : passes) {
    if (!text.empty()) text += ' ';
    text += pass.name;
  }
  return text;
}

}  // namespace groove::random_programs
