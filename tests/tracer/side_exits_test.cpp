// When another way than a segment's is worth a segment of its own.
#include "tracer/watch/side_exits.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace groove::tracer {
namespace {

constexpr std::uint64_t kHead = 7;

// How often must a run be left there until the other way is hot?
int times_left(SideExits& exits, std::uint64_t exit) {
  int times = 1;
  while (!exits.is_hot(exit, kHead, 2, false) && times < 1000) ++times;
  return times;
}

SegmentPtr segment(State state, std::uint64_t hits) {
  auto made = std::make_shared<Segment>();
  made->head = kHead;
  made->state.store(state);
  made->statistics.hits = hits;
  return made;
}

TEST(SideExits, AreHotWhenTheyComeAsOftenAsStretches) {
  SideExits exits;
  const std::uint64_t exit = SideExits::at(1, 2);
  EXPECT_EQ(times_left(exits, exit), 2);
  EXPECT_TRUE(exits.is_hot(SideExits::at(1, 3), kHead, 2, true)) << "what does not come back";
}

TEST(SideExits, WhoseRecordingFailsAreDearerEachTime) {
  SideExits exits;
  const std::uint64_t exit = SideExits::at(1, 2);
  int before = times_left(exits, exit);
  for (int failure = 0; failure < 4; ++failure) {
    exits.give_up(exit);
    const int now = times_left(exits, exit);
    EXPECT_EQ(now, 2 * before);
    before = now;
  }
  exits.give_up(exit);
  EXPECT_FALSE(exits.is_hot(exit, kHead, 2, true)) << "not at once any more";
  EXPECT_EQ(times_left(exits, SideExits::at(5, 9)), 2) << "another exit";
}

TEST(SideExits, WaitForWhatIsBeingCompiled) {
  SideExits exits;
  const std::uint64_t exit = SideExits::at(1, 2);
  const SegmentPtr made = segment(State::kCompiling, 0);
  exits.note_made(exit, made);
  EXPECT_EQ(times_left(exits, exit), 1000);
  made->state.store(State::kArmed);
  EXPECT_EQ(times_left(exits, exit), 4) << "it was in vain: the run came to this all the same";
}

TEST(SideExits, ForgiveFailuresOfWhatIsTakenOften) {
  SideExits exits;
  const std::uint64_t exit = SideExits::at(1, 2);
  for (int failure = 0; failure < 4; ++failure) exits.give_up(exit);
  exits.note_made(exit, segment(State::kArmed, 0));
  const int in_vain = times_left(exits, exit);
  const SegmentPtr taken = segment(State::kArmed, 100);
  exits.note_made(exit, taken);
  EXPECT_LT(times_left(exits, exit), in_vain);
}

TEST(SideExits, OfHeadsWithManyNewPathsAreDearer) {
  SideExits exits;
  std::vector<SegmentPtr> paths;
  const auto another = [&](std::uint64_t what) {
    return times_left(exits, SideExits::at(9, what));
  };
  for (std::uint64_t path = 0; path < 10; ++path) {
    paths.push_back(segment(State::kArmed, 0));
    exits.note_made(SideExits::at(3, path), paths.back());
  }
  EXPECT_EQ(another(1), 8) << "two more than are free";
  for (const SegmentPtr& path : paths) path->statistics.hits = 100;
  EXPECT_EQ(another(2), 2) << "all are taken";
}

TEST(SideExits, OfPiecesCountForThemselves) {
  SideExits exits;
  const std::uint64_t exit = SideExits::at(1, 2), piece = SideExits::piece_up_to(exit);
  for (int failure = 0; failure < 4; ++failure) exits.give_up(exit);
  int times = 1;
  while (!exits.is_hot_piece(piece, 4)) ++times;
  EXPECT_EQ(times, 4);
}

}  // namespace
}  // namespace groove::tracer
