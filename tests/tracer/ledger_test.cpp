#include "tracer/ledger.h"

#include <gtest/gtest.h>

#include "tracer/investment.h"

namespace groove::tracer {
namespace {

TEST(Ledger, TrialsTellWhetherCompilingPays) {
  Ledger ledger;
  ledger.note_eager(10'000);
  for (int i = 0; i < 8; ++i) ledger.note_compiled(6'000);
  EXPECT_FALSE(ledger.wants_trial(7)) << "too early";
  EXPECT_TRUE(ledger.wants_trial(8));
  EXPECT_FALSE(ledger.wants_trial(8)) << "one for each number of runs";
  // The recording made the iteration look slower than it is.
  EXPECT_FALSE(ledger.note_trial(4'000)) << "too few";
  EXPECT_FALSE(ledger.note_trial(90'000));
  EXPECT_TRUE(ledger.note_trial(4'500));
  EXPECT_DOUBLE_EQ(ledger.eager(), 4'500e-6);
  for (int i = 0; i < 8; ++i) ledger.note_compiled(4'000);
  EXPECT_FALSE(ledger.note_trial(4'500)) << "it pays by now";
}

TEST(Ledger, NoTrialWhereThereIsNoDoubt) {
  Ledger ledger;
  ledger.note_eager(10'000);
  for (int i = 0; i < 8; ++i) ledger.note_compiled(1'000);
  EXPECT_FALSE(ledger.wants_trial(8));
  EXPECT_FALSE(ledger.wants_trial(1'000'000));
}

TEST(Investment, IsAShareOfTheTime) {
  Investment investment;
  EXPECT_TRUE(investment.is_affordable());
  investment.spent() += std::int64_t{3'600} * 1'000'000'000;
  EXPECT_FALSE(investment.is_affordable()) << "an hour at once";
  investment.spent() = 1'000;
  EXPECT_TRUE(investment.is_affordable());
}

}  // namespace
}  // namespace groove::tracer
