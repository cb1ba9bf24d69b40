// The allocator: size classes, reuse, statistics, limits, arenas, guard pages, threads.
#include "src/core/allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "groove/tensor.h"

namespace groove {
namespace {

TEST(Allocator, SizeClassesHoldTheRequestAndWasteAtMostAQuarter) {
  for (std::size_t bytes = 1; bytes < (std::size_t{1} << 34); bytes += 1 + bytes / 7) {
    const std::size_t room = allocation_size(bytes);
    ASSERT_GE(room, bytes);
    ASSERT_EQ(room % 64, 0u);
    ASSERT_LE(room, bytes + bytes / 4 + 64);
    ASSERT_EQ(allocation_size(room), room);
  }
}

TEST(Allocator, BlocksAreAlignedDisjointAndReused) {
  std::vector<std::pair<char*, std::size_t>> blocks;
  for (std::size_t bytes : {0, 1, 63, 64, 65, 500, 1000, 5000, 33000, 1 << 20, 9 << 20})
    for (int i = 0; i < 20; ++i) {
      char* const block = static_cast<char*>(allocate(bytes));
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(block) % 64, 0u);
      std::memset(block, i, bytes);
      blocks.emplace_back(block, bytes);
    }
  for (std::size_t i = 0; i < blocks.size(); ++i)
    for (std::size_t k = 0; k < blocks[i].second; k += 61)
      ASSERT_EQ(blocks[i].first[k], static_cast<char>(i % 20));
  for (auto [block, bytes] : blocks) deallocate(block, bytes);
  void* const again = allocate(500);
  deallocate(again, 500);
  EXPECT_EQ(allocate(500), again);
  deallocate(again, 500);
}

TEST(Allocator, CountsAllocatedAndPeak) {
  const memory::Statistics before = memory::statistics();
  memory::reset_peak();
  {
    const Tensor big = make_empty({1 << 20}, kFloat);
    EXPECT_EQ(memory::statistics().allocated, before.allocated + (4 << 20));
  }
  const memory::Statistics after = memory::statistics();
  EXPECT_EQ(after.allocated, before.allocated);
  EXPECT_GE(after.peak, before.allocated + (4 << 20));
  EXPECT_GE(after.cached, std::size_t{4 << 20});
  memory::empty_cache();
  EXPECT_LE(memory::statistics().reserved, after.reserved - (4 << 20));
}

TEST(Allocator, LimitThrowsNamingTheBytesAndTheLoopGoesOn) {
  memory::empty_cache();
  memory::set_limit(memory::statistics().reserved + (16 << 20));
  try {
    make_empty({64 << 20}, kByte);
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("cannot allocate 67108864 bytes"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(make_empty({8 << 20}, kByte).numel(), 8 << 20);
  memory::set_limit(0);
  EXPECT_THROW(make_empty({std::int64_t{1} << 50}, kFloat), Error);
}

TEST(Allocator, BlocksMayDieOnAnotherThread) {
  const std::size_t before = memory::statistics().allocated;
  std::vector<Tensor> tensors;
  for (int i = 0; i < 2000; ++i) tensors.push_back(make_empty({i % 50}, kDouble));
  std::thread([&] { tensors.clear(); }).join();
  std::thread([] {
    for (int i = 0; i < 100; ++i) make_empty({100}, kFloat);
  }).join();
  EXPECT_EQ(memory::statistics().allocated, before);
}

TEST(Allocator, ArenasAreAlignedToHugePagesAndZero) {
  const StoragePtr arena = allocate_arena((3 << 20) + 5);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(arena->data) % (2 << 20), 0u);
  EXPECT_GE(arena->bytes, std::size_t{(3 << 20) + 5});
  static_cast<char*>(arena->data)[arena->bytes - 1] = 1;
}

// What a program needs at once is taken from what its operators had needed one by one.
TEST(Allocator, ArenasAreMadeOfWhatWaitsInTheCache) {
  memory::empty_cache();
  const std::size_t before = memory::statistics().reserved;
  {
    std::vector<Tensor> all;
    for (const std::int64_t megabytes : {48, 24, 7, 5}) {
      all.push_back(make_empty({megabytes << 20}, kByte));
      std::memset(all.back().impl()->data(), 1, static_cast<std::size_t>(megabytes) << 20);
    }
  }
  const std::size_t cached = memory::statistics().reserved - before;
  const StoragePtr whole = allocate_arena(std::size_t{60} << 20);  // 48, 7 and most of 5
  auto* const bytes = static_cast<unsigned char*>(whole->data);
  for (std::size_t at = 1; at < std::size_t{58} << 20; at += 4096) ASSERT_EQ(bytes[at], 1) << at;
  std::memset(bytes, 2, whole->bytes);
  EXPECT_EQ(memory::statistics().reserved - before, cached);
  const StoragePtr part = allocate_arena(std::size_t{16} << 20);  // of the 24
  std::memset(part->data, 3, part->bytes);
  EXPECT_EQ(memory::statistics().reserved - before, cached - (std::size_t{8} << 20));
  const Tensor again = make_empty({24 << 20}, kByte);  // fresh, and no other's
  std::memset(again.impl()->data(), 4, std::size_t{24} << 20);
  for (std::size_t at = 0; at < std::size_t{60} << 20; at += 4096) ASSERT_EQ(bytes[at], 2) << at;
  EXPECT_EQ(static_cast<unsigned char*>(part->data)[(16 << 20) - 1], 3);
}

// What an earlier phase left in the cache makes room for what the present one frees.
TEST(Allocator, FullCacheLetsTheStalestGo) {
  memory::empty_cache();
  const std::size_t now = std::size_t{8} << 20;
  std::vector<std::pair<void*, std::size_t>> earlier;
  for (std::size_t megabytes : {320, 256, 224, 192, 160})  // more than is kept
    earlier.emplace_back(allocate(megabytes << 20), megabytes << 20);
  for (const auto& [block, bytes] : earlier) deallocate(block, bytes);
  auto* const block = static_cast<unsigned char*>(allocate(now));
  block[5] = 7;
  deallocate(block, now);
  EXPECT_LE(memory::statistics().cached, std::size_t{3} << 29);
  auto* const again = static_cast<unsigned char*>(allocate(now));
  EXPECT_EQ(again, block);
  EXPECT_EQ(again[5], 7);  // a fresh page holds 0
  deallocate(again, now);
  memory::empty_cache();
}

TEST(AllocatorDeathTest, GuardPagesCatchAnOverreadOfOneByte) {
  set_guard_pages(true);
  const Tensor tensor = make_empty({7}, kFloat);
  set_guard_pages(false);
  volatile char* const bytes = static_cast<volatile char*>(tensor.impl()->data());
  bytes[27] = 1;
  EXPECT_DEATH(bytes[28] = 1, "");
}

}  // namespace
}  // namespace groove
