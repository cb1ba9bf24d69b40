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

using Bounds = std::vector<AnySize::Bounds>;

// Programs whose structure is `of` their sizes; counts how many are made. After each `at_a_time`
// the search is put off.
struct Programs {
  std::function<std::uint64_t(const SizeValues&)> of;
  int at_a_time = 0;  // without end
  int made = 0;
  // Of the recording, where sizes are 1.
  AnySize::TypesAt types_at = [](const SizeValues& sizes) { return sizes; };

  AnySize found(const SizeValues& now, const Bounds& widest) {
    AnySize::Search search{now, widest, {}};
    for (;;) {
      try {
        return AnySize(search, make(), types_at);
      } catch (const AnySize::PutOff&) {
        ++searches;
      }
    }
  }
  int searches = 1;

 private:
  AnySize::Make make() {
    return [this, made_now = 0](const SizeValues& sizes, const Executable*) mutable {
      if (at_a_time > 0 && made_now++ == at_a_time) throw AnySize::PutOff();
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
  const AnySize any = programs.found({30, 30, 20}, {{2, 64}, {2, 64}, {2, 64}});
  EXPECT_TRUE(any.covers({2, 2, 2}, 0));
  EXPECT_TRUE(any.covers({64, 64, 64}, 0));
  EXPECT_TRUE(any.covers({5, 60, 5}, 0));
}

// … but where a size itself makes a difference, that is seen, whatever the others are.
TEST(AnySizeFinder, ABoundIsAProgramsOwn) {
  Programs programs{[](const SizeValues& sizes) {
    std::uint64_t structure = pairs_that_are_alike(sizes);
    for (const std::int64_t size : sizes) structure = mixed(structure, size < 8 ? 1 : 0);
    return structure;
  }};
  const AnySize any = programs.found({30, 30}, {{2, 64}, {2, 64}});
  EXPECT_TRUE(any.covers({8, 8}, 0));
  EXPECT_FALSE(any.covers({7, 30}, 0));
  EXPECT_FALSE(any.covers({30, 7}, 0));
}

// A bound may be one more than a power of two.
TEST(AnySizeFinder, ABoundMayLieJustAboveAPowerOfTwo) {
  Programs programs{[](const SizeValues& sizes) { return sizes[0] > 64 ? 2u : 1u; }};
  const AnySize any = programs.found({90}, {{2, 128}});
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
    const AnySize any = programs.found({now}, {{2, 1024}});
    EXPECT_LE(programs.made, 14) << "at " << now;
    return std::pair(any.bounds(0).least, any.bounds(0).greatest);
  };
  EXPECT_EQ(bounds_at(5), std::pair(std::int64_t{2}, std::int64_t{7}));
  EXPECT_EQ(bounds_at(12), std::pair(std::int64_t{8}, std::int64_t{15}));
  EXPECT_EQ(bounds_at(17), std::pair(std::int64_t{16}, std::int64_t{64}));
  EXPECT_EQ(bounds_at(64), std::pair(std::int64_t{16}, std::int64_t{64}));
  EXPECT_EQ(bounds_at(700), std::pair(std::int64_t{65}, std::int64_t{1024}));
}

// Where each size has bounds of its own, those of one are tried for the others: here they hold.
TEST(AnySizeFinder, BoundsOfOneSizeAreTriedForTheOthers) {
  const auto structure = [](const SizeValues& sizes) {
    std::uint64_t structure = 0;
    for (const std::int64_t size : sizes)
      structure = mixed(structure, size < 8 ? 1 : size <= 64 ? 2 : 3);
    return structure;
  };
  int made = 0;
  for (const std::size_t count : {1, 4}) {
    Programs programs{structure};
    const SizeValues now{20, 21, 22, 23};
    const AnySize any = programs.found(SizeValues(now.begin(), now.begin() + count),
                                       Bounds(count, AnySize::Bounds{1, 256}));
    for (std::size_t i = 0; i < count; ++i) {
      EXPECT_EQ(any.bounds(i).least, 8);
      EXPECT_EQ(any.bounds(i).greatest, 64);
    }
    if (count == 1) made = programs.made;
    EXPECT_LE(programs.made, made + 10);  // of which six are of sizes between
  }
}

// A search that is put off again and again makes no program twice, and finds the same.
TEST(AnySizeFinder, GoesOnWhereItWasPutOff) {
  const auto structure = [](const SizeValues& sizes) {
    return static_cast<std::uint64_t>((sizes[0] < 8 ? 1 : 2) + (sizes[1] > 32 ? 4 : 0));
  };
  Programs at_once{structure}, in_parts{structure, 2};
  const Bounds widest{{2, 128}, {2, 128}};
  const AnySize expected = at_once.found({20, 20}, widest), any = in_parts.found({20, 20}, widest);
  EXPECT_EQ(in_parts.made, at_once.made);
  EXPECT_EQ(in_parts.searches, (in_parts.made + 1) / 2);
  EXPECT_EQ(any.describe(), expected.describe());
}

// A program for any size does for 1, where a program would be another, if the recording holds
// there.
TEST(AnySizeFinder, OneIsASizeAsOthersAreWhereTheTypesSaySo) {
  const auto structure = [](const SizeValues& sizes) { return pairs_that_are_alike(sizes); };
  const Bounds widest{{2, 64}, {2, 64}};
  constexpr AnySize::Ones kFirst = AnySize::one(0), kBoth = kFirst | AnySize::one(1);
  Programs programs{structure};
  const AnySize any = programs.found({30, 20}, widest);
  EXPECT_TRUE(any.covers({1, 20}, kFirst));
  EXPECT_TRUE(any.covers({1, 1}, kBoth));
  EXPECT_FALSE(any.covers({1, 1}, kFirst));
  EXPECT_FALSE(any.covers({1, 20}, 0));
  EXPECT_FALSE(any.covers({0, 20}, kBoth));

  // A stride that is another there.
  programs.types_at = [](const SizeValues& sizes) {
    return SizeValues{sizes[0], sizes[1] == 1 ? 7 : sizes[1]};
  };
  const AnySize first = programs.found({30, 20}, widest);
  EXPECT_TRUE(first.covers({1, 20}, kBoth));
  EXPECT_FALSE(first.covers({30, 1}, kBoth));

  // Each alone, but not both.
  programs.types_at = [](const SizeValues& sizes) -> std::optional<SizeValues> {
    if (sizes[0] == sizes[1]) return std::nullopt;
    return sizes;
  };
  const AnySize none = programs.found({30, 20}, widest);
  EXPECT_FALSE(none.covers({1, 20}, kBoth));
}

}  // namespace
}  // namespace groove::tracer
