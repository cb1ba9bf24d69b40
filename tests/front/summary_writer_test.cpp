// TensorBoard's event files: the bytes that Python's torch.utils.tensorboard writes.
#include "groove/summary_writer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <thread>

#include "front_files.h"
#include "groove/groove.h"
#include "src/io/event_file.h"
#include "src/io/png.h"
#include "src/io/protobuf.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

constexpr double kTime = 1000.5;

std::string hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<unsigned char>(byte) & 15];
  }
  return text;
}

// The records behind the first one, each with its length and checksums.
std::vector<std::string> records(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::string> found;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data() + at, sizeof length);
    const std::string record = bytes.substr(at, 16 + length);
    EXPECT_EQ(record, serialize::framed_record(record.substr(12, length)));
    at += record.size();
    found.push_back(record);
  }
  EXPECT_EQ(found.at(0).substr(12 + 9), "\x1a\rbrain.Event:2" + found[0].substr(12 + 24));
  found.erase(found.begin());
  return found;
}

TEST(SummaryWriter, ChecksumOfThePolynomialsAuthors) {
  EXPECT_EQ(serialize::crc32c("123456789"), 0xe3069283u);  // RFC 3720
  EXPECT_EQ(serialize::crc32c(std::string(32, '\0')), 0x8a9136aau);
}

TEST(SummaryWriter, WritesTheBytesOfPythons) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "run");
  writer.add_scalar("loss", 0.5, 3, kTime);
  writer.add_histogram("h", tensor({1.0, 1.0, -2.0, 0.0}), 4, kTime);
  writer.add_text("t", "hell\xc3\xb6 *x*", -1, kTime);
  const auto found = records(writer.path());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(hex(found[0]),
            "1a00000000000000129bd82d090000000000448f4010032a0d0a0b0a046c6f7373150000003fb032f95e");
  // The checksum tells of the rest, too.
  EXPECT_EQ(found[1].size(), 9537u);
  EXPECT_EQ(hex(found[1].substr(0, 64)),
            "31250000000000008d64cc34090000000000448f4010042aa34a0aa04a0a01682a9a4a0900000000000000"
            "c011000000000000f03f1900000000000010402900");
  EXPECT_EQ(hex(found[1].substr(9533)), "dc2e2d10");
  EXPECT_EQ(
      hex(found[2]),
      "4800000000000000fe92489d090000000000448f4010ffffffffffffffffff012a320a300a0e742f746578745f"
      "73756d6d61727942140807120412020801420a68656c6cc3b6202a782a4a080a060a0474657874b5889a44");
}

TEST(SummaryWriter, HistogramsLeaveOutWhatIsNotFinite) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writer.add_histogram("h", tensor({{1.0, nan}, {-2.0, 0.0}}).t(), 0, kTime);
  writer.add_histogram("h", tensor({0.0, 1.0, -2.0}), 0, kTime);
  writer.add_histogram("h", tensor({-2, 1, 0}, kShort), 0, kTime);
  writer.add_histogram("h", tensor({1e30, -1e30}), 0, kTime);
  const auto found = records(writer.path());
  EXPECT_EQ(found[0], found[1]);
  EXPECT_EQ(found[0], found[2]);
  EXPECT_EQ(error_of([&] { writer.add_histogram("h", tensor({nan})); }),
            "add_histogram: the tensor has no finite element");
  EXPECT_EQ(error_of([&] { writer.add_histogram("h", Tensor()); }),
            "add_histogram: the tensor is undefined; give it a value first");
}

TEST(SummaryWriter, ImagesAreScaledAndBounded) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  writer.add_image("i", tensor({{0.0, 0.5, 1.0}, {-1.0, 2.0, nan}}), 0, kTime);
  writer.add_image("i", tensor({{{0, 127, 255}, {0, 255, 0}}}, kByte), 0, kTime);
  writer.add_image("i", tensor({{{1}}, {{2}}, {{3}}}, kByte), 0, kTime);
  const auto found = records(writer.path());
  EXPECT_EQ(found[0], found[1]);
  const std::string png = serialize::png_of("\1\2\3", 1, 1, 3);
  EXPECT_NE(found[2].find(png), std::string::npos);
  EXPECT_EQ(hex(png.substr(0, 33)),
            "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de");
  EXPECT_EQ(hex(png.substr(png.size() - 12)), "0000000049454e44ae426082");
  EXPECT_EQ(error_of([&] {
              writer.add_image("i", ones({2, 3, 3}));
            }),
            "add_image: an image is [height, width] or [channels, height, width] with 1, 3 or 4 "
            "channels; this one has shape [2, 3, 3]");
}

TEST(SummaryWriter, CurvesOfOnePicture) {
  const TemporaryFolder folder;
  {
    SummaryWriter writer(folder / "run", ".end");
    EXPECT_TRUE(writer.path().ends_with(".end"));
    for (int step = 0; step < 2; ++step)
      writer.add_scalars("a/b", {{"x", 1}, {"y", 2}}, step, kTime);
    writer.flush();
  }
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "run")) {
    if (!entry.is_regular_file()) continue;
    ++files;
    const std::string parent = entry.path().parent_path().filename().string();
    EXPECT_EQ(records(entry.path().string()).size(), parent == "run" ? 0u : 2u) << parent;
    EXPECT_TRUE(parent == "run" || parent == "a_b_x" || parent == "a_b_y") << parent;
  }
  EXPECT_EQ(files, 3);
}

TEST(SummaryWriter, ThreadsWriteWholeRecords) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&writer] {
      for (int step = 0; step < 100; ++step) writer.add_scalar("x", 1, step);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(records(writer.path()).size(), 400u);
}

TEST(SummaryWriter, Errors) {
  const TemporaryFolder folder;
  std::ofstream(folder / "file") << "x";
  EXPECT_NE(error_of([&] { SummaryWriter writer(folder / "file/below"); }).find("cannot be made"),
            std::string::npos);
  SummaryWriter writer(folder.path());
  EXPECT_EQ(error_of([&] { writer.add_scalar("\xff", 1); }),
            "add_scalar: the tag is not valid UTF-8");
  EXPECT_EQ(error_of([&] { writer.add_text("t", "\xc3"); }),
            "add_text: the text is not valid UTF-8");
  writer.close();
  EXPECT_EQ(error_of([&] { writer.add_scalar("x", 1); }), "add_scalar: the writer is closed");
}

TEST(SummaryWriter, Utf8) {
  for (const char* good : {"", "a", "\xc3\xb6", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf"})
    EXPECT_TRUE(serialize::is_utf8(good)) << good;
  for (const char* bad :
       {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80",
        "\xf4\x90\x80\x80", "\xff", "\xe2\x82", "\xe2\x28\xa1"})
    EXPECT_FALSE(serialize::is_utf8(bad)) << hex(bad);
}

}  // namespace
}  // namespace groove
