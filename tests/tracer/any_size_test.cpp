// How one program for many sizes is found from programs for some: these are made up here.
#include "tracer/cache/any_size.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/hash.h"

namespace groove::tracer {
namespace {

class NoProgram final : public Executable {
 public:
  std::size_t arena_bytes() const override { return 0; }
  std::int32_t run(void* const*, const std::int64_t*, const std::uint64_t*,
                   ProgramContext&) const noexcept override {
    return 1;
  }
  std::string describe() const override { return {}; }
};

// Programs whose structure is `of` their sizes; counts how many are made.
struct Programs {
  std::function<std::uint64_t(const SizeValues&)> of;
  int made = 0;

  AnySize::Make make() {
    return [this](const SizeValues& sizes, const Executable*) {
      ++made;
      AnySize::Sample sample;
      sample.sizes = sizes;
      sample.types = sizes;
      sample.program = std::make_shared<NoProgram>();
      sample.numbers.structure = of(sizes);
      return sample;
    };
  }
};

std::uint64_t pairs_that_are_alike(const SizeValues& sizes) {
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i)
    for (std::size_t j = i + 1; j < sizes.size(); ++j) pairs = 2 * pairs + (sizes[i] == sizes[j]);
  return pairs;
}

// Two launches over as many elements may become one: no other sizes can do the same.
TEST(AnySizeFinder, SizesThatAreTheSameByChanceAreTakenApart) {
  Programs programs{pairs_that_are_alike};
  const AnySize any({30, 30, 20}, {{2, 64}, {2, 64}, {2, 64}}, programs.make());
  EXPECT_TRUE(any.covers({2, 2, 2}));
  EXPECT_TRUE(any.covers({64, 64, 64}));
  EXPECT_TRUE(any.covers({5, 60, 5}));
}

// … but where a size itself makes a difference, that is seen, whatever the others are.
TEST(AnySizeFinder, ABoundIsAProgramsOwn) {
  Programs programs{[](const SizeValues& sizes) {
    std::uint64_t structure = pairs_that_are_alike(sizes);
    for (const std::int64_t size : sizes) structure = mixed(structure, size < 8 ? 1 : 0);
    return structure;
  }};
  const AnySize any({30, 30}, {{2, 64}, {2, 64}}, programs.make());
  EXPECT_TRUE(any.covers({8, 8}));
  EXPECT_FALSE(any.covers({7, 30}));
  EXPECT_FALSE(any.covers({30, 7}));
}

// A bound may be one more than a power of two.
TEST(AnySizeFinder, ABoundMayLieJustAboveAPowerOfTwo) {
  Programs programs{[](const SizeValues& sizes) { return sizes[0] > 64 ? 2u : 1u; }};
  const AnySize any({90}, {{2, 128}}, programs.make());
  EXPECT_EQ(any.bounds(0).least, 65);
  EXPECT_EQ(any.bounds(0).greatest, 128);
}

// Of each structure the widest bounds, with few programs made.
TEST(AnySizeFinder, FindsBoundsInFewSteps) {
  const auto structure = [](const SizeValues& sizes) {
    return static_cast<std::uint64_t>(sizes[0] < 8     ? 1
                                      : sizes[0] < 16  ? 2
                                      : sizes[0] <= 64 ? 3
                                                       : 4);
  };
  const auto bounds_at = [&](std::int64_t now) {
    Programs programs{structure};
    const AnySize any({now}, {{2, 1024}}, programs.make());
    EXPECT_LE(programs.made, 14) << "at " << now;
    return std::pair(any.bounds(0).least, any.bounds(0).greatest);
  };
  EXPECT_EQ(bounds_at(5), std::pair(std::int64_t{2}, std::int64_t{7}));
  EXPECT_EQ(bounds_at(12), std::pair(std::int64_t{8}, std::int64_t{15}));
  EXPECT_EQ(bounds_at(17), std::pair(std::int64_t{16}, std::int64_t{64}));
  EXPECT_EQ(bounds_at(64), std::pair(std::int64_t{16}, std::int64_t{64}));
  EXPECT_EQ(bounds_at(700), std::pair(std::int64_t{65}, std::int64_t{1024}));
}

}  // namespace
}  // namespace groove::tracer
