// Datasets, transforms, samplers, loaders, IDX files.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "groove/data.h"
#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/random.h"

namespace groove {
namespace {

namespace fs = std::filesystem;

struct Squares : data::datasets::Dataset<Squares> {
  data::Example<> get(std::size_t i) override {
    const auto x = static_cast<double>(i);
    return {tensor({x, x * x}), tensor(static_cast<std::int64_t>(i))};
  }
  std::optional<std::size_t> size() const override { return 10; }
};

TEST(Loader, SequentialBatchesWithARaggedLastOne) {
  auto loader = data::make_data_loader<data::samplers::SequentialSampler>(
      Squares().map(data::transforms::Stack<>()), 4);
  std::vector<std::int64_t> sizes;
  for (auto& batch : *loader) {
    sizes.push_back(batch.data.size(0));
    EXPECT_EQ(batch.target.size(0), batch.data.size(0));
  }
  EXPECT_EQ(sizes, (std::vector<std::int64_t>{4, 4, 2}));
  auto dropping = data::make_data_loader<data::samplers::SequentialSampler>(
      Squares().map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(4).drop_last(true).workers(2));
  int batches = 0;
  for (auto& batch : *dropping) {
    EXPECT_EQ(batch.data[1][1].item<float>(), batches == 0 ? 1 : 25);
    ++batches;
  }
  EXPECT_EQ(batches, 2);
}

TEST(Loader, RandomOrderDependsOnTheSeedAlone) {
  const auto epoch = [](auto& loader) {
    std::vector<std::int64_t> seen;
    for (auto& batch : *loader) seen.push_back(batch.target[0].template item<std::int64_t>());
    return seen;
  };
  const auto run = [&] {
    manual_seed(7);
    auto loader = data::make_data_loader(Squares().map(data::transforms::Stack<>()));
    auto first = epoch(loader);
    return std::pair(first, epoch(loader));
  };
  const auto [first, second] = run();
  EXPECT_EQ(run(), std::pair(first, second));
  EXPECT_NE(first, second);
  EXPECT_EQ(std::set<std::int64_t>(first.begin(), first.end()).size(), 10u);
}

TEST(Loader, UnmappedDatasetsGiveVectorsOfExamples) {
  auto loader = data::make_data_loader(Squares(), data::samplers::SequentialSampler(3), 2);
  std::size_t count = 0;
  for (auto& batch : *loader) count += batch.size();
  EXPECT_EQ(count, 3u);
  EXPECT_THROW(data::make_data_loader(Squares(), data::DataLoaderOptions(0)), Error);
}

TEST(Transforms, UsersOwn) {
  auto dataset = Squares()
                     .map(data::transforms::Lambda<data::Example<>>([](data::Example<> e) {
                       e.data = e.data * 2;
                       return e;
                     }))
                     .map(data::transforms::TensorLambda<>([](Tensor t) { return t + 1; }))
                     .map(data::transforms::Stack<>());
  const std::size_t indices[] = {2, 3};
  const auto batch = dataset.get_batch(indices);
  EXPECT_EQ(batch.data[1][1].item<float>(), 19);
}

TEST(Transforms, NormalizeGivesTheBitsOfTheOps) {
  std::vector<data::Example<>> examples;
  const Tensor images = rand({5, 1, 7, 3});
  for (int i = 0; i < 5; ++i) examples.emplace_back(images[i], tensor(i));
  auto batch = data::transforms::Stack<>().apply_batch(
      data::transforms::Normalize<>(0.1307, 0.3081).apply_batch(examples));
  EXPECT_EQ(batch.data.sizes(), images.sizes());
  EXPECT_TRUE(eq(batch.data, (images - 0.1307) / 0.3081).sum().item<int>() == images.numel());
  const Tensor channels = data::transforms::Normalize<>({0.5, 0.25}, {2., 4.})(ones({2, 2, 2}));
  EXPECT_EQ(channels[1][0][0].item<float>(), 0.1875f);
  EXPECT_THROW(data::transforms::Normalize<>(0.0, 0.0), Error);
  // A mean for each channel, whatever the shape: LibTorch's statistics are [channels, 1, 1].
  data::transforms::Normalize<> one(0.0, 0.5);
  EXPECT_EQ(one(ones({1})).sizes(), (std::vector<std::int64_t>{1, 1, 1}));
  std::vector<data::Example<>> vectors = {{ones({4}), tensor(0)}, {ones({4}), tensor(1)}};
  const Tensor vector = one.apply_batch(vectors)[1].data;
  EXPECT_EQ(vector.sizes(), (std::vector<std::int64_t>{1, 1, 4}));
  EXPECT_EQ(vector.sum().item<double>(), 8);
}

TEST(Transforms, StackCopiesWhatOthersHold) {
  const Tensor all = rand({2, 3});
  const Tensor batch = data::transforms::detail::stack_rows({all[0], all[1]});
  batch.zero_();
  EXPECT_GT(all.sum().item<float>(), 0);
  EXPECT_THROW(data::transforms::detail::stack_rows({ones({2}), ones({3})}), Error);
}

class Idx : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("groove_idx_" + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }
  static std::string header(std::initializer_list<std::uint32_t> words) {
    std::string bytes;
    for (std::uint32_t word : words)
      for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(word >> shift);
    return bytes;
  }
  void write(const std::string& name, const std::string& bytes) {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
  }
  std::string error() {
    try {
      data::datasets::MNIST(root_.string(), data::datasets::MNIST::Mode::kTest);
    } catch (const Error& error) {
      return error.msg();
    }
    return "";
  }
  void expect(const std::string& part) {
    const std::string text = error();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    EXPECT_NE(text.find(root_.string()), std::string::npos) << text;
  }
  fs::path root_;
  const std::string images = "t10k-images-idx3-ubyte", labels = "t10k-labels-idx1-ubyte";
};

TEST_F(Idx, HostileFiles) {
  expect("there is neither");
  write(labels, header({0x801, 2}) + std::string("\x03\x09", 2));
  write(images, header({0x801, 2}));
  expect("within its header");
  write(images, header({0x801, 2, 28, 28}));
  expect("magic number is 0x00000801");
  write(images, header({0x803, 0xffffffff, 0xffffffff, 0xffffffff}));
  expect("asks for more than");
  write(images, header({0x803, 5000000, 28, 28}) + std::string(100, 'a'));
  expect("cut short");
  write(images, header({0x803, 2, 28, 28}) + std::string(2 * 784 + 1, 'a'));
  expect("goes on after");
  write(images, header({0x803, 1, 28, 28}) + std::string(784, 'a'));
  expect("holds 1 images");
  write(images, header({0x803, 2, 14, 56}) + std::string(2 * 784, 'a'));
  expect("14 x 56");
  write(images, header({0x803, 2, 28, 28}) + std::string(2 * 784, '\x33'));
  EXPECT_EQ(error(), "");
  write(labels, header({0x801, 2}) + std::string("\x03\x0a", 2));
  expect("label 1 is 10");
  fs::remove(root_ / images);
  fs::create_directory(root_ / images);
  expect("folder");
}

TEST_F(Idx, PlainAndDamagedGzip) {
  write(labels, header({0x801, 1}) + std::string("\x07", 1));
  const std::string bytes = header({0x803, 1, 28, 28}) + std::string(784, '\xff');
  const std::string path = (root_ / (images + ".gz")).string();
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
  gzclose(file);
  data::datasets::MNIST digits(root_.string(), data::datasets::MNIST::Mode::kTest);
  EXPECT_EQ(digits.size(), 1u);
  EXPECT_EQ(digits.get(0).data.sizes(), IntArrayRef({1, 28, 28}));
  EXPECT_EQ(digits.get(0).data[0][3][4].item<float>(), 1);
  EXPECT_EQ(digits.get(0).target.item<int>(), 7);
  EXPECT_FALSE(digits.is_train());
  EXPECT_THROW(digits.get(1), Error);
  fs::resize_file(path, fs::file_size(path) - 9);
  expect("damaged");
}

TEST(Digits, SamplesDataLoads) {
  const std::string root =
      std::string(__FILE__).substr(0, std::string(__FILE__).rfind("/tests/")) + "/samples/data";
  auto loader = data::make_data_loader<data::samplers::RandomSampler>(
      data::datasets::MNIST(root, data::datasets::MNIST::Mode::kTest)
          .map(data::transforms::Normalize<>(0.1307, 0.3081))
          .map(data::transforms::Stack<>()),
      data::DataLoaderOptions().batch_size(64));
  auto batch = *loader->begin();
  EXPECT_EQ(batch.data.sizes(), IntArrayRef({64, 1, 28, 28}));
  EXPECT_EQ(batch.target.sizes(), IntArrayRef({64}));
  EXPECT_EQ(batch.target.scalar_type(), kLong);
}

}  // namespace
}  // namespace groove
