#include "tracer/watch/segment_profile.h"

#include <gtest/gtest.h>

#include <random>

#include "tracer/watch/backoff.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

// A profile of runs of which one in `runs` is timed.
class ProfileOfRuns : public SegmentProfile {
 public:
  void note_compiled(std::int64_t nanoseconds, std::uint64_t runs) {
    EXPECT_EQ(SegmentProfile::note_compiled(nanoseconds, (hits_ += runs) - 1), runs);
  }

 private:
  std::uint64_t hits_ = 0;
};

TEST(SegmentProfile, TrialsTellWhetherCompilingPays) {
  ProfileOfRuns profile;
  profile.note_eager(10'000);
  for (int i = 0; i < 8; ++i) profile.note_compiled(6'000, 1);
  EXPECT_EQ(profile.gain(), 0) << "a recording tells little";
  EXPECT_FALSE(profile.wants_trial(3)) << "too early";
  EXPECT_TRUE(profile.wants_trial(4));
  EXPECT_FALSE(profile.wants_trial(4)) << "one for each number of runs";
  // The recording made the iteration look slower than it is.
  EXPECT_FALSE(profile.note_trial(4'000)) << "too few";
  for (const std::int64_t taken : {90'000, 4'500, 4'600}) EXPECT_FALSE(profile.note_trial(taken));
  EXPECT_TRUE(profile.note_trial(4'500));
  EXPECT_DOUBLE_EQ(profile.eager(), 4'500e-6) << "what disturbs makes it longer";
  EXPECT_NEAR(profile.gain(), -1'500, 1);
  for (int i = 0; i < 8; ++i) profile.note_compiled(4'000, 1);
  EXPECT_FALSE(profile.note_trial(4'500)) << "it pays by now";
}

// Each of the first, then few; the next one that can be timed stands for those that could not.
TEST(SegmentProfile, WantsTheTimesOfSomeRuns) {
  SegmentProfile profile;
  EXPECT_FALSE(profile.wants_time(2)) << "finds nothing in the caches";
  std::uint64_t timed = 0, told = 0;
  for (std::uint64_t hits = 0; hits < 1'000; ++hits) {
    if (!profile.wants_time(hits) || (hits > 100 && hits % 5 != 0)) continue;
    ++timed;
    told += profile.note_compiled(1'000, hits);
    EXPECT_EQ(told, hits + 1);
  }
  EXPECT_GT(timed, 20U);
  EXPECT_LT(timed, 30U);
  EXPECT_GT(told, 900U);
}

// Which sizes come while it is tried is chance.
TEST(SegmentProfile, RunsAtManySizesAreTriedOftener) {
  ProfileOfRuns profile;
  profile.note_many_sizes();
  for (int i = 0; i < 8; ++i) profile.note_compiled(i % 2 == 0 ? 3'000 : 9'000, 1);
  for (int i = 0; i < 31; ++i) {
    EXPECT_FALSE(profile.note_trial(i % 2 == 0 ? 2'000 : 8'000));
    EXPECT_EQ(profile.gain(), 0) << "the sizes may have made the difference";
  }
  for (int i = 0; i < 24; ++i) profile.note_compiled(i % 2 == 0 ? 3'000 : 9'000, 1);
  EXPECT_FALSE(profile.note_trial(8'000)) << "still in doubt";
  EXPECT_NEAR(profile.gain(), -1'000, 1) << "but the best guess by now";
  for (int i = 0; i < 32; ++i) profile.note_compiled(19'000, 1);
  EXPECT_TRUE(profile.note_trial(2'000));
}

// Two times that are alike by chance, of sizes of which one takes ten times as long as another.
TEST(SegmentProfile, AFewTimesAtManySizesTellNothing) {
  int known = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 generator(seed);
    std::uniform_int_distribution<std::int64_t> size(1, 10);
    ProfileOfRuns profile;
    profile.note_many_sizes();
    for (int i = 0; i < 12; ++i) {
      profile.note_compiled(9'000 * size(generator), 1);
      profile.note_trial(10'000 * size(generator));
      if (profile.gain() < 0) {
        ++known;
        break;
      }
    }
  }
  EXPECT_LT(known, 20);
}

TEST(SegmentProfile, AFewTrialsWhereThereIsNoDoubt) {
  ProfileOfRuns profile;
  profile.note_eager(10'000);
  for (int i = 0; i < 8; ++i) profile.note_compiled(1'000, 1);
  for (std::uint64_t hits = 0, trials = 0; hits < 100; ++hits) {
    if (!profile.wants_trial(hits)) continue;
    profile.note_trial(9'000);
    EXPECT_LE(++trials, 3U);
  }
  EXPECT_FALSE(profile.wants_trial(1'000'000));
}

// The machine is twice as fast from some time on; what was saved before remains.
TEST(SegmentProfile, WhatWasSavedIsTheTimeOfTheRunsTimesHowMuchSlowerTheTrialsWere) {
  ProfileOfRuns profile;
  EXPECT_EQ(profile.speedup(), 0);
  for (int i = 0; i < 10; ++i) profile.note_compiled(2'000, 64);
  profile.note_trial(6'000);
  EXPECT_DOUBLE_EQ(profile.speedup(), 3);
  EXPECT_NEAR(profile.saved(640, 0), 640 * 4e-3, 1e-9);
  for (int i = 0; i < 10; ++i) profile.note_compiled(1'000, 64);
  profile.note_trial(3'000);
  EXPECT_NEAR(profile.saved(1'280, 0), 640 * 4e-3 + 640 * 2e-3, 1e-9);
  // Once in a while the thread waits for the system, and not in each of 64 runs.
  profile.note_compiled(10'000'000, 64);
  EXPECT_LT(profile.saved(1'344, 0), 640 * 4e-3 + 640 * 2e-3 + 64 * 9e-3);
}

TEST(SegmentProfile, ThreadsMayTellOfTheirRunsInAnyOrder) {
  SegmentProfile profile;
  EXPECT_EQ(profile.note_compiled(1'000, 101), 102U);
  EXPECT_EQ(profile.note_compiled(1'000, 100), 0U);
  EXPECT_EQ(profile.note_compiled(1'000, 103), 2U);
  profile.note_trial(3'000);
  EXPECT_NEAR(profile.saved(104, 0), 104 * 2e-3, 1e-9);
}

TEST(SegmentProfile, TimesBelowTheClocksOwnTellNothing) {
  for (const bool has_many_sizes : {false, true}) {
    ProfileOfRuns profile;
    if (has_many_sizes) profile.note_many_sizes();
    for (int i = 0; i < 10; ++i) profile.note_compiled(0, 1);
    for (const std::int64_t taken : {0, 500}) profile.note_trial(taken);
    EXPECT_EQ(profile.saved(10, 0), 0);
    EXPECT_EQ(profile.speedup(), 1);
  }
}

TEST(SegmentProfile, WithoutATrialOfItsOwnItSavesWhatItsLoopDoes) {
  ProfileOfRuns profile;
  profile.note_eager(100'000);
  for (int i = 0; i < 10; ++i) profile.note_compiled(2'000, 1);
  EXPECT_NEAR(profile.saved(10, 1.5), 10 * 1e-3, 1e-9);
  EXPECT_GT(profile.saved(10, 0), 10 * 1e-3) << "before any trial a recording tells";
}

// Longer than any test runs.
constexpr std::int64_t kHour = std::int64_t{3'600} * 1'000'000'000;

TEST(Investment, IsAShareOfTheTimeAndOfWhatWasSaved) {
  Investment investment;
  EXPECT_TRUE(investment.affords(0));
  EXPECT_FALSE(investment.affords(kHour));
  investment.spend(kHour);
  EXPECT_FALSE(investment.affords(0));
  investment.save(3.0 * static_cast<double>(kHour));
  EXPECT_TRUE(investment.affords(0));
  EXPECT_FALSE(investment.affords(kHour)) << "half of what was saved";
  investment.save(-3.0 * static_cast<double>(kHour));
  EXPECT_FALSE(investment.affords(0)) << "it was lost again";
}

TEST(Investment, TheProgramsOwnThreadsSpendLess) {
  Investment investment;
  investment.spend_here(kHour / 20);
  investment.save(kHour / 10.0);
  EXPECT_TRUE(investment.affords(0));
  EXPECT_FALSE(investment.affords_here(0));
  investment.save(kHour / 5.0);
  EXPECT_TRUE(investment.affords_here(0));
}

// It must be a small share of the time first, whatever it takes.
TEST(Investment, NothingIsRecordedAtOnce) {
  constexpr std::size_t kHours = std::size_t{1} << 40;  // calls that take as long to record
  Investment investment;
  EXPECT_FALSE(investment.affords_recording(kHours, true));
  investment.save(6'000.0 * kHour);
  EXPECT_TRUE(investment.affords_recording(kHours, true));
  EXPECT_FALSE(investment.affords_recording(kHours, false)) << "it may end soon";
}

// What is new leaves something for what is known to be cheap.
TEST(Investment, RecordingsAndSearchesLeaveAReserve) {
  Investment investment;
  investment.save(8.0 * kHour);
  EXPECT_TRUE(investment.affords_recording(50, true));
  EXPECT_TRUE(investment.affords_search(kHour / 2));
  investment.spend_searching(kHour * 4 / 5);
  EXPECT_FALSE(investment.affords_search(kHour / 2)) << "a quarter of all";
  EXPECT_TRUE(investment.affords_recording(50, true));
  investment.spend(kHour * 3);
  EXPECT_FALSE(investment.affords_recording(50, true));
  EXPECT_TRUE(investment.affords_here(kHour / 20));
}

// A short phase after long ones does not use up what these saved.
TEST(Investment, OfNoStretchOfTimeIsMuchSpentOnWhatIsNew) {
  Investment investment;
  investment.save(1'000.0 * kHour);
  EXPECT_TRUE(investment.affords_recording(50, true));
  investment.spend_here(kHour);
  EXPECT_FALSE(investment.affords_recording(50, true));
  EXPECT_FALSE(investment.affords_search(0));
  EXPECT_TRUE(investment.affords_here(0)) << "known to be cheap";
  investment.forget();
  investment.save(1'000.0 * kHour);
  EXPECT_TRUE(investment.affords_recording(50, true));
}

// What pays best is saved for, and nothing else is begun meanwhile.
TEST(Investment, WhatPaysBestIsPaidFirst) {
  Investment investment;
  investment.save(4.0 * kHour);
  investment.spend(kHour * 9 / 5);
  const int large = 0, small = 0;
  EXPECT_FALSE(investment.affords(&large, 20 * kHour, 1.0 * kHour)) << "there is not as much yet";
  EXPECT_TRUE(investment.affords_recording(50, true)) << "it has not shown that it pays";
  EXPECT_FALSE(investment.affords(&large, 20 * kHour, 1.5 * kHour)) << "a tenth of what it takes";
  EXPECT_FALSE(investment.affords_recording(50, true));
  EXPECT_FALSE(investment.affords(kHour / 20));
  EXPECT_FALSE(investment.affords(&small, kHour / 20, 0.001 * kHour))
      << "pays less for what it takes";
  EXPECT_TRUE(investment.affords(&small, kHour / 20, 1.0 * kHour)) << "pays more";
  investment.save(50.0 * kHour);
  EXPECT_TRUE(investment.affords(&large, 20 * kHour, 0));
  EXPECT_TRUE(investment.affords_recording(50, true)) << "it is not waited for any more";
}

// The first segments tell most: on a slow machine the next ones must not be taken for cheap.
TEST(Investment, WhatTheFirstOnesTookIsExpectedOfTheNext) {
  Investment investment;
  const std::int64_t guessed = investment.expected(1'000);
  for (int i = 0; i < 3; ++i) investment.settle(investment.advance(1'000), 1'000, 10 * guessed);
  EXPECT_GT(investment.expected(1'000), 7 * guessed);
  investment.settle(investment.advance(1'000), 1'000, guessed);
  EXPECT_GT(investment.expected(1'000), 5 * guessed) << "one among several";
}

TEST(Investment, WhatIsToBeCompiledIsSpentAtOnce) {
  Investment investment;
  std::int64_t advanced = investment.advance(1'000'000);
  EXPECT_FALSE(investment.affords(0));
  investment.settle(advanced, 1'000'000, 1'000);
  EXPECT_TRUE(investment.affords(0)) << "it took less";
  for (int i = 0; i < 100; ++i) {
    advanced = investment.advance(10);
    investment.settle(advanced, 10, 110'000);
  }
  EXPECT_LT(investment.expected(10), 120'000) << "what the last ones took is expected of the next";
}

// What ran compiled before the run was left was for nothing, unless it saved running that eagerly.
TEST(SegmentProfile, WhatRanCompiledIsLostToo) {
  ProfileOfRuns profile;
  profile.note_eager(100'000);
  for (int i = 0; i < 8; ++i) profile.note_compiled(20'000, 1);
  profile.note_trial(50'000);
  const auto lost = [&](std::size_t ran, std::int64_t again) {
    return profile.note_exit(ran, 50, 100, Reason::kHostRead, {}, again, 1'000'000);
  };
  EXPECT_NEAR(lost(0, 25'000), 1'500, 1);
  EXPECT_NEAR(lost(50, 25'000), 11'500, 1);
  EXPECT_NEAR(lost(50, 0), 500, 1);
}

// A loop that was left each time has gained nothing that an exit could lose.
TEST(SegmentProfile, RunsThatNeverWentThroughLoseWhatTheyTakeMore) {
  ProfileOfRuns profile;
  profile.note_eager(100'000);
  // Half of the calls run again as before, so it takes no longer than eager mode.
  const auto half = static_cast<std::int64_t>(profile.eager() / 2 * 1e6);
  profile.note_exit(0, 50, 100, Reason::kHostRead, {}, half, 1'000'000);
  EXPECT_NEAR(profile.exits()[0].lost, 0, 1e-5);
  profile.note_exit(0, 50, 100, Reason::kHostRead, {}, half + 10'000, 1'000'000);
  EXPECT_NEAR(profile.exits()[0].lost, 0.01, 1e-5) << "milliseconds";
}

TEST(Backoff, PausesWhereRunsLoseInAll) {
  Backoff backoff;
  const auto begun = [&backoff](int times) {
    int count = 0;
    for (int i = 0; i < times; ++i) count += backoff.is_willing() ? 1 : 0;
    return count;
  };
  // Every second run is left, and costs less than the other gains.
  for (int i = 0; i < 100; ++i) backoff.note(i % 2 == 0, i % 2 == 0 ? 500 : -300, 1000);
  EXPECT_EQ(begun(10), 10);
  // The same, costing more.
  for (int i = 0; i < 200; ++i) backoff.note(i % 2 == 0, i % 2 == 0 ? 500 : -900, 1000);
  EXPECT_LT(begun(10), 10);
  EXPECT_EQ(begun(1), 0);
  while (!backoff.is_willing()) continue;
  for (int i = 0; i < 40; ++i) backoff.note(true, 500, 1000);
  EXPECT_EQ(begun(10), 10) << "another phase of the program";
}

// Sizes for which there is no program yet come at first, and cost little once the first has come.
TEST(Backoff, ALittleThatIsLostIsNoReasonToPause) {
  Backoff backoff;
  int begun = 0;
  for (int i = 0; i < 1000; ++i) {
    if (!backoff.is_willing()) continue;
    ++begun;
    const bool is_hit = i > 50 && i % 4 == 0;
    backoff.note(is_hit, is_hit ? 9'000 : i == 0 ? -23'000 : -500, 80'000);
  }
  EXPECT_GT(begun, 900);
  // Where nothing else comes, it is less than a hundredth of the time.
  begun = 0;
  for (int i = 0; i < 10'000; ++i) {
    if (!backoff.is_willing()) continue;
    ++begun;
    backoff.note(false, -500, 80'000);
  }
  EXPECT_LT(begun * 500, 10'000 * 800);
}

// Runs that took long since something disturbed them, and would again, one by one after pauses.
TEST(Backoff, RunsAfterAPauseAreColdAtFirst) {
  Backoff backoff;
  const auto run = [&](double warm) {
    if (!backoff.is_willing()) return false;
    const bool is_cold = backoff.is_cold();
    backoff.note(true, is_cold ? -9000 : warm, 1000);
    return true;
  };
  for (int i = 0; i < 100; ++i) run(-5000);
  int willing = 0;
  for (int i = 0; i < 5000; ++i) willing += run(400) ? 1 : 0;
  EXPECT_GT(willing, 4500) << "warm runs gain";
  // Where they lose still, ever fewer run.
  willing = 0;
  for (int i = 0; i < 20'000; ++i) willing += run(-200) ? 1 : 0;
  EXPECT_LT(willing, 400);
  // One that is left ends what the pause was followed by.
  Backoff left;
  for (int i = 0; i < 3; ++i) left.note(false, -1000, 1000);
  EXPECT_FALSE(left.is_willing());
  EXPECT_TRUE(left.is_willing());
  EXPECT_TRUE(left.is_cold());
  left.note(false, -1000, 1000);
  EXPECT_FALSE(left.is_willing());
}

}  // namespace
}  // namespace groove::tracer
