// Image files and folders of them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "front_files.h"
#include "groove/data/images.h"
#include "groove/groove.h"
#include "tests/core/error_of.h"

namespace groove {
namespace {

using namespace std::string_literals;

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}
Tensor image(const std::string& bytes) {
  const TemporaryFolder folder;
  write(folder / "image", bytes);
  return data::read_image(folder / "image");
}
void expect(const std::string& part, const std::string& bytes) {
  const std::string text = error_of([&] { image(bytes); });
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  is not about: " << part;
}

// A BMP of 2 x 2 pixels, whose rows come from below; 40 bytes of header.
std::string bmp(char bits, const std::string& palette, const std::string& rows, char height = 2) {
  const auto begin = static_cast<char>(54 + palette.size());
  const std::string high = height < 0 ? "\xff\xff\xff"s : "\0\0\0"s;
  return "BM\0\0\0\0\0\0\0\0"s + begin + "\0\0\0\x28\0\0\0\2\0\0\0"s + height + high + "\1\0"s +
         bits + "\0"s + std::string(16, '\0') + static_cast<char>(palette.size() / 4) +
         "\0\0\0\0\0\0\0"s + palette + rows;
}

TEST(Images, Netpbm) {
  const Tensor grey = tensor({{{1, 2, 3}, {4, 5, 255}}}, kByte);
  EXPECT_TRUE(same_bits(image("P5\n3 2\n255\n\1\2\3\4\5\xff"), grey));
  EXPECT_TRUE(
      same_bits(image("P5 # a comment\n#another\n 3\t2 255 \1\2\3\4\5\xff and more"), grey));
  EXPECT_TRUE(same_bits(image("P2\n3 2\n255\n1 2 3\n4 5 255\n"), grey));
  const Tensor colour = tensor({{{1, 4}}, {{2, 5}}, {{3, 6}}}, kByte);
  EXPECT_TRUE(same_bits(image("P6\n2 1\n255\n\1\2\3\4\5\6"), colour));
  EXPECT_TRUE(same_bits(image("P3 2 1 255 1 2 3 4 5 6"), colour));
  EXPECT_TRUE(same_bits(image("P2 4 1 15 0 1 7 15"), tensor({{{0, 17, 119, 255}}}, kByte)));
  EXPECT_TRUE(same_bits(image("P5 2 1 65535\n\xff\xff\x80\0"s), tensor({{{255, 128}}}, kByte)));
}

TEST(Images, Bitmaps) {
  const Tensor colour = tensor({{{3, 6}, {9, 12}}, {{2, 5}, {8, 11}}, {{1, 4}, {7, 10}}}, kByte);
  const std::string top = "\1\2\3\4\5\6\0\0"s, bottom = "\7\10\11\12\13\14\0\0"s;
  EXPECT_TRUE(same_bits(image(bmp(24, "", bottom + top)), colour));
  EXPECT_TRUE(same_bits(image(bmp(24, "", top + bottom, -2)), colour));
  EXPECT_TRUE(same_bits(image(bmp(32, "", "\7\10\11x\12\13\14x\1\2\3x\4\5\6x")), colour));
  const std::string grey = "\5\5\5\0\6\6\6\0"s, two = "\5\5\5\0\6\6\7\0"s;
  const std::string rows = "\0\1\0\0\1\1\0\0"s;
  EXPECT_TRUE(same_bits(image(bmp(8, grey, rows)), tensor({{{6, 6}, {5, 6}}}, kByte)));
  EXPECT_TRUE(same_bits(image(bmp(8, two, rows)),
                        tensor({{{7, 7}, {5, 7}}, {{6, 6}, {5, 6}}, {{6, 6}, {5, 6}}}, kByte)));
  expect("has no colour 2", bmp(8, grey, "\0\2\0\0\1\1\0\0"s));
  expect("has 16 bits", bmp(16, "", rows));
  expect("cut short: 2 x 2 pixels", bmp(24, "", top));
  expect("cut short: 2 x 128 pixels", bmp(24, "", top, '\x80').replace(22, 4, "\x80\0\0\0"s));
  expect("cut short: 2 x 2147483648 pixels",
         bmp(24, "", top + bottom).replace(22, 4, "\0\0\0\x80"s));
  expect("has no pixels", bmp(24, "", top + bottom, 0));
  expect("ends within its header", "BM");
}

TEST(Images, FilesThatLie) {
  expect("is no PGM, PPM or BMP", "");
  expect("is no PGM, PPM or BMP", "\x89PNG\r\n");
  expect("has no width at byte 2", "P5x");
  expect("has no height", "P5 3");
  expect("depth of 0", "P5 1 1 0 \1");
  expect("depth of 65536", "P5 1 1 65536 \1");
  expect("ends within its header", "P5 1 1 255");
  expect("a width of more than", "P5 99999999999999999999 1 255 \1");
  expect("cut short: 1073741824 x 1073741824 pixels in 1 bytes", "P6 1073741824 1073741824 255 \1");
  expect("cut short: 2 x 1 pixels in 3 bytes", "P5 2 1 256 \1\1\1");
  expect("the value 16 with a depth of 15", "P5 1 1 15 \20");
  expect("has no value", "P2 2 1 255 123 x");
}

TEST(Images, AFolderForEachClass) {
  const TemporaryFolder folder;
  write(folder / "cats/b.pgm", "P5 1 2 255 \0\xff"s);
  write(folder / "cats/a.PPM", "P6 1 1 255 \1\2\3");
  write(folder / "cats/notes.txt", "no image");
  write(folder / "dogs/young/c.pgm", "P5 1 1 255 \x33");
  write(folder / "readme.pgm", "outside of the classes");
  data::datasets::ImageFolder images(folder.path());
  EXPECT_EQ(images.classes(), (std::vector<std::string>{"cats", "dogs"}));
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images.paths()[0], folder / "cats/a.PPM");
  EXPECT_TRUE(images.targets().equal(tensor({0, 0, 1})));
  const auto first = images.get(0), second = images.get(1), third = images.get(2);
  EXPECT_TRUE(same_bits(first.data, tensor({1.0, 2.0, 3.0}).reshape({3, 1, 1}) / 255));
  EXPECT_TRUE(same_bits(second.data, tensor({0.0, 1.0}).reshape({1, 2, 1}).repeat({3, 1, 1})));
  EXPECT_EQ(third.target.item<std::int64_t>(), 1);
  data::datasets::ImageFolder grey(folder.path(), 1);
  EXPECT_TRUE(same_bits(grey.get(0).data, tensor({{{2.0}}}) / 255));
  EXPECT_TRUE(same_bits(grey.get(2).data, tensor({{{0x33 / 1.0}}}) / 255));

  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      grey.map(data::transforms::TensorLambda<>([](Tensor x) { return x.mean().reshape({1}); }))
          .map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(3).workers(2));
  for (auto& batch : *loader) EXPECT_EQ(batch.data.sizes(), IntArrayRef({3, 1}));

  EXPECT_EQ(error_of([&] { images.get(3); }), "ImageFolder: index 3 is out of range for 3 images");
  EXPECT_NE(
      error_of([&] { data::datasets::ImageFolder x(folder / "cats"); }).find("holds no folder"),
      std::string::npos);
  std::filesystem::create_directories(folder / "none");
  EXPECT_NE(
      error_of([&] { data::datasets::ImageFolder x(folder.path()); }).find("none: holds no file"),
      std::string::npos);
  EXPECT_NE(error_of([&] { data::datasets::ImageFolder x(folder / "x"); }).find("cannot be read"),
            std::string::npos);
}

TEST(Images, DamagedCopies) {
  const std::vector<std::string> good = {"P6\n2 1\n255\n\1\2\3\4\5\6", "P2 2 2 15 1 2 3 4",
                                         bmp(24, "", std::string(16, '\1')),
                                         bmp(8, "\1\1\1\0\2\2\2\0"s, "\0\1\0\0\1\1\0\0"s)};
  std::mt19937 random(1);
  const TemporaryFolder folder;
  int errors = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string bytes = good[static_cast<std::size_t>(i) % good.size()];
    for (unsigned n = 1 + random() % 4; n > 0; --n)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    if (i % 5 == 0) bytes.resize(random() % bytes.size());
    write(folder / "image", bytes);
    errors += error_of([&] { data::read_image(folder / "image"); }) == "no error" ? 0 : 1;
  }
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace groove
