// ulp: the greatest error of every function, measured against MPFR, as a table. Without --full it
// takes a sample of seconds; with it all f32 values, 10^8 points of f64 and 10^9 pairs, of days of
// one processor's time: name a function and a dtype to do one part.
#include <algorithm>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>

#include "tools/ulp/accuracy.h"

namespace {

using namespace groove;
using namespace groove::accuracy;

struct Plan {
  std::vector<std::string> names, dtypes;
  bool is_full = false;
  bool wants(const std::vector<std::string>& list, const std::string& what) const {
    return list.empty() || std::find(list.begin(), list.end(), what) != list.end();
  }
};

bool has_failed = false;

void show(const char* name, const char* dtype, const char* points, const Worst& worst, double bound,
          bool is_pair) {
  char place[64];
  std::snprintf(place, sizeof place, is_pair ? "%a, %a" : "%a", worst.x, worst.y);
  const bool fails = !(worst.ulp <= bound);
  std::printf("| %s | %s | %s | %.4f | %s | %g%s |\n", name, dtype, points, worst.ulp, place, bound,
              fails ? " EXCEEDED" : "");
  std::fflush(stdout);
  has_failed = has_failed || fails;
}

void measure(const Plan& plan) {
  std::puts("| function | dtype | points | greatest error, ULP | at | bound |");
  std::puts("|---|---|---|---|---|---|");
  const bool full = plan.is_full;
  for (const Unary& f : unary_functions()) {
    if (!plan.wants(plan.names, f.name)) continue;
    if (plan.wants(plan.dtypes, "f32")) {
      show(f.name, "f32", full ? "all" : "1 in 997", check_single(f, full ? 1 : 997),
           f.bound_single, false);
    }
    if (plan.wants(plan.dtypes, "f64")) {
      show(f.name, "f64", full ? "10^8" : "300,000", check_double(f, full ? 100000000 : 300000, 7),
           f.bound_double, false);
    }
    if (plan.wants(plan.dtypes, "f16")) {
      show(f.name, "f16", "all", check_half(f, kHalf), 0.51, false);
    }
    if (plan.wants(plan.dtypes, "bf16")) {
      show(f.name, "bf16", "all", check_half(f, kBFloat16), 0.51, false);
    }
  }
  for (const Binary& f : binary_functions()) {
    if (!plan.wants(plan.names, f.name)) continue;
    if (plan.wants(plan.dtypes, "f32")) {
      show(f.name, "f32", full ? "10^9" : "3,000,000",
           check_single(f, full ? 1000000000 : 3000000, 11), f.bound_single, true);
    }
    if (plan.wants(plan.dtypes, "f64")) {
      show(f.name, "f64", full ? "10^8" : "300,000", check_double(f, full ? 100000000 : 300000, 11),
           f.bound_double, true);
    }
  }
}

}  // namespace

int main(int count, char** words) {
  Plan plan;
  CLI::App app("The greatest error of every function in units in the last place, against MPFR");
  app.add_option("functions", plan.names, "which functions; all without");
  app.add_option("--dtype", plan.dtypes, "f32, f64, f16, bf16; all without")
      ->check(CLI::IsMember({"f32", "f64", "f16", "bf16"}));
  app.add_flag("--full", plan.is_full, "every f32 value, 10^8 points of f64, 10^9 pairs of f32");
  CLI11_PARSE(app, count, words);
  for (const std::string& name : plan.names) {
    const auto is_it = [&](const auto& f) { return name == f.name; };
    if (std::none_of(unary_functions().begin(), unary_functions().end(), is_it) &&
        std::none_of(binary_functions().begin(), binary_functions().end(), is_it)) {
      std::fprintf(stderr, "ulp: there is no function %s\n", name.c_str());
      return 2;
    }
  }
  measure(plan);
  return has_failed ? 1 : 0;
}
