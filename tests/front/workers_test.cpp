// Loaders with worker threads: the same batches, errors at the consumer, clean ends.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "front_files.h"
#include "groove/data.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/losses.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "groove/optim.h"
#include "groove/serialize.h"

namespace groove {
namespace {

using data::DataLoaderOptions;
using data::make_data_loader;

struct Noisy : data::datasets::Dataset<Noisy> {
  data::Example<> get(std::size_t i) override {
    if (i == throws_at) throw std::out_of_range("example " + std::to_string(i));
    std::this_thread::sleep_for(std::chrono::microseconds(i * 37 % 200));
    return {rand({3}) + static_cast<double>(i), tensor(static_cast<std::int64_t>(i))};
  }
  std::optional<std::size_t> size() const override { return 43; }
  std::size_t throws_at = 1000;
};

template <typename Loader>
std::vector<Tensor> epoch(Loader& loader) {
  std::vector<Tensor> seen;
  for (auto& batch : loader) {
    seen.push_back(batch.data);
    seen.push_back(batch.target);
  }
  return seen;
}

std::vector<Tensor> two_epochs(DataLoaderOptions options) {
  manual_seed(5);
  auto loader = make_data_loader(Noisy().map(data::transforms::Stack<>()), std::move(options));
  std::vector<Tensor> seen = epoch(*loader);
  for (Tensor& tensor : epoch(*loader)) seen.push_back(std::move(tensor));
  seen.push_back(rand({2}));
  return seen;
}

TEST(Workers, BatchesHaveTheSameBitsForEveryNumber) {
  const std::vector<Tensor> expected = two_epochs(DataLoaderOptions(4));
  EXPECT_EQ(expected.size(), 2 * 2 * 11 + 1u);
  EXPECT_FALSE(same_bits(expected[0], expected[22]));
  for (const std::size_t workers : {1, 2, 5})
    for (const std::size_t jobs : {1, 3, 20}) {
      const auto actual = two_epochs(DataLoaderOptions(4).workers(workers).max_jobs(jobs));
      ASSERT_EQ(actual.size(), expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(same_bits(expected[i], actual[i])) << workers << " workers, batch " << i / 2;
    }
}

TEST(Workers, WithoutOrderEveryBatchComesOnce) {
  auto loader = make_data_loader<data::samplers::SequentialSampler>(
      Noisy().map(data::transforms::Stack<>()),
      DataLoaderOptions(4).workers(3).enforce_ordering(false).drop_last(true));
  std::vector<bool> seen(43);
  for (auto& batch : *loader)
    for (int i = 0; i < 4; ++i) seen[batch.target[i].item<std::size_t>()] = true;
  EXPECT_EQ(std::count(seen.begin(), seen.end(), true), 40);
  serialize::OutputArchive archive;
  EXPECT_THROW(loader->save(archive), Error);
}

TEST(Workers, WhatTheyThrowReachesTheConsumerInItsPlace) {
  Noisy dataset;
  dataset.throws_at = 9;
  for (const std::size_t workers : {0, 2}) {
    auto loader = make_data_loader<data::samplers::SequentialSampler>(
        dataset.map(data::transforms::Stack<>()), DataLoaderOptions(4).workers(workers));
    for (int pass = 0; pass < 2; ++pass) {
      int batches = 0;
      try {
        for (auto& batch : *loader) batches += batch.data.defined();
        ADD_FAILURE();
      } catch (const std::out_of_range& error) {
        EXPECT_STREQ(error.what(), "example 9");
      } catch (const data::WorkerException& error) {
        EXPECT_STREQ(error.what(),
                     "Caught exception in DataLoader worker thread. Original message: example 9");
        EXPECT_THROW(std::rethrow_exception(error.original_exception), std::out_of_range);
      }
      EXPECT_EQ(batches, 2);
      loader->join();
    }
  }
}

TEST(Workers, LoadersEndAtAnyTime) {
  for (int i = 0; i < 20; ++i) {
    auto loader =
        make_data_loader(Noisy().map(data::transforms::Stack<>()), DataLoaderOptions(2).workers(2));
    auto at = loader->begin();
    for (int k = 0; k < i % 4; ++k) ++at;
    EXPECT_THROW(loader->begin(), Error);  // batches of this pass are being fetched
    if (i % 3 == 0) {
      loader->join();  // they are dropped
      at = loader->begin();
    }
    if (i % 5 == 0) {
      loader->join();
      EXPECT_EQ(epoch(*loader).size(), 2 * 22u);
    }
  }
}

// Gives nothing before it may.
struct Held : data::datasets::Dataset<Held> {
  explicit Held(std::atomic<bool>& may_go) : may_go_(&may_go) {}
  data::Example<> get(std::size_t) override {
    may_go_->wait(false);
    return {ones({1}), ones({1})};
  }
  std::optional<std::size_t> size() const override { return 2; }
  std::atomic<bool>* may_go_;
};

TEST(Workers, Timeout) {
  std::atomic<bool> may_go{false};
  auto loader = make_data_loader(
      Held(may_go), DataLoaderOptions(1).workers(1).timeout(std::chrono::milliseconds(10)));
  auto at = loader->begin();
  EXPECT_THROW(*at, Error);
  may_go = true;
  may_go.notify_all();
}

// A model that is trained (and found by the tracer) while workers compute.
TEST(Workers, BesideATracedLoop) {
  const auto run = [](std::size_t workers) {
    manual_seed(11);
    nn::Linear net(3, 2);
    optim::SGD sgd(net->parameters(), 0.001);
    auto loader = make_data_loader(Noisy().map(data::transforms::Stack<>()),
                                   DataLoaderOptions(4).workers(workers).drop_last(true));
    for (int i = 0; i < 6; ++i)
      for (auto& batch : *loader) {
        sgd.zero_grad();
        cross_entropy_loss(net(batch.data), batch.target.remainder(2)).backward();
        sgd.step();
      }
    return net->weight.detach().clone();
  };
  const Tensor expected = run(0);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(same_bits(expected, run(3)));
}

TEST(Loader, PositionsThatCannotBe) {
  const auto loader_of = [](std::size_t batch_size) {
    return make_data_loader(Noisy().map(data::transforms::Stack<>()),
                            DataLoaderOptions(batch_size));
  };
  auto loader = loader_of(4);
  auto at = loader->begin();
  ++at;
  serialize::OutputArchive archive;
  loader->save(archive);
  const TemporaryFolder folder;
  archive.save_to(folder / "position");
  serialize::InputArchive in;
  in.load_from(folder / "position");
  auto other = loader_of(5);
  EXPECT_THROW(other->load(in), Error);

  const auto hostile = [&](const std::vector<std::int64_t>& indices, std::int64_t index,
                           std::int64_t delivered) {
    serialize::OutputArchive sampler, out;
    sampler.write("indices", tensor(indices));
    sampler.write("index", index);
    out.write("sampler", sampler);
    out.write("is_in_epoch", true);
    out.write("key", std::int64_t{1});
    out.write("delivered", delivered);
    out.write("batch_size", std::int64_t{4});
    out.save_to(folder / "hostile");
    serialize::InputArchive damaged;
    damaged.load_from(folder / "hostile");
    auto target = loader_of(4);
    target->load(damaged);
    return epoch(*target).size();
  };
  std::vector<std::int64_t> good(43);
  for (std::size_t i = 0; i < good.size(); ++i) good[i] = static_cast<std::int64_t>(i);
  EXPECT_EQ(hostile(good, 0, 3), 2 * 8u);
  EXPECT_THROW(hostile(good, 44, 3), Error);
  EXPECT_THROW(hostile(good, 0, 12), Error);
  EXPECT_THROW(hostile(good, 0, -1), Error);
  good[7] = 8;
  EXPECT_THROW(hostile(good, 0, 0), Error);
  good[7] = -1;
  EXPECT_THROW(hostile(good, 0, 0), Error);
  good.pop_back();
  EXPECT_THROW(hostile(good, 0, 0), Error);
}

}  // namespace
}  // namespace groove
