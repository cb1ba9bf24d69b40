// The front end as LibTorch programs write it.
#include <gtest/gtest.h>

#include <chrono>

#include "front_files.h"
#include "groove/compat/torch/torch.h"

namespace {

struct PolicyImpl : torch::nn::Module {
  PolicyImpl(int64_t in, int64_t hidden)
      : gru(torch::nn::GRUOptions(in, hidden).batch_first(true)), head(hidden, 2) {
    register_module("gru", gru);
    register_module("norm", norm);
    register_module("head", head);
    for (auto& p : named_parameters()) {
      if (p.key().find("bias") != std::string::npos)
        torch::nn::init::constant_(p.value(), 0.0);
      else if (p.value().dim() >= 2)
        torch::nn::init::orthogonal_(p.value(), 0.5);
    }
  }
  torch::Tensor forward(torch::Tensor x) {
    auto out = std::get<0>(gru->forward(x));
    out = norm(out.index({torch::indexing::Slice(), -1}));
    return head->forward(torch::nn::functional::gelu(out));
  }
  torch::nn::GRU gru;
  torch::nn::LayerNorm norm{torch::nn::LayerNormOptions({6})};
  torch::nn::Linear head;
};
TORCH_MODULE(Policy);

TEST(LibTorchSpellings, TrainClipScheduleSaveLoad) {
  const groove::TemporaryFolder folder;
  torch::manual_seed(1);
  Policy policy(3, 6);
  torch::optim::RMSprop optimizer(policy->parameters(), torch::optim::RMSpropOptions(1e-2));
  torch::optim::StepLR scheduler(optimizer, 2, 0.5);
  for (int i = 0; i < 5; ++i) {
    auto loss = torch::nn::functional::smooth_l1_loss(
        policy(torch::ones({4, 5, 3})), torch::zeros({4, 2}),
        torch::nn::functional::SmoothL1LossFuncOptions(torch::kMean));
    optimizer.zero_grad();
    loss.backward();
    double norm = torch::nn::utils::clip_grad_norm_(policy->parameters(), 0.5);
    EXPECT_GT(norm, 0);
    optimizer.step();
    scheduler.step();
  }
  torch::save(policy, folder / "policy.pt");
  torch::save(optimizer, folder / "optimizer.pt");
  torch::save(std::vector<torch::Tensor>{torch::ones({2}), torch::eye(2)}, folder / "list.pt");

  Policy other(3, 6);
  torch::load(other, folder / "policy.pt");
  torch::optim::RMSprop restored(other->parameters(), torch::optim::RMSpropOptions(1));
  torch::load(restored, folder / "optimizer.pt");
  EXPECT_EQ(static_cast<torch::optim::RMSpropOptions&>(restored.param_groups()[0].options()).lr(),
            2.5e-3);
  const auto x = torch::rand({1, 5, 3});
  EXPECT_TRUE(torch::equal(policy(x), other(x)));
  std::vector<torch::Tensor> list;
  torch::load(list, folder / "list.pt");
  EXPECT_EQ(list.size(), 2u);

  // Through a stream, as programs copy a network.
  std::stringstream stream;
  torch::save(policy, stream);
  Policy target(3, 6);
  torch::load(target, stream);
  EXPECT_TRUE(torch::equal(policy(x), target(x)));

  torch::serialize::OutputArchive out;
  policy->save(out);
  out.write("epoch", torch::IValue(7));
  out.save_to(folder / "archive.pt");
  torch::serialize::InputArchive in;
  in.load_from(folder / "archive.pt", torch::kCPU);
  target->load(in);
  c10::IValue epoch;
  in.read("epoch", epoch);
  EXPECT_EQ(epoch.toInt(), 7);
  EXPECT_THROW(torch::load(policy, folder / "list.pt"), c10::Error);
}

// A holder of what is no module.
struct CountsImpl : torch::data::datasets::Dataset<CountsImpl> {
  explicit CountsImpl(int64_t count) : count(count) {}
  torch::data::Example<> get(size_t index) override {
    return {torch::full({2}, static_cast<int64_t>(index)), torch::ones({1})};
  }
  torch::optional<size_t> size() const override { return static_cast<size_t>(count); }
  int64_t count;
};
TORCH_MODULE(Counts);

TEST(LibTorchSpellings, HolderOfADataset) {
  const std::shared_ptr<CountsImpl> shared = Counts(4).ptr();
  EXPECT_EQ(shared->count, 4);
  auto loader = torch::data::make_data_loader<torch::data::samplers::SequentialSampler>(
      Counts(3)->map(torch::data::transforms::Stack<>()), /*batch_size=*/3);
  for (auto& batch : *loader) EXPECT_EQ(batch.data.sum().item<float>(), 6);
}

// A holder with a member of its own in the module that it holds.
class GainedLinear : public torch::nn::Linear {
 public:
  using torch::nn::Linear::Linear;
  explicit GainedLinear(torch::nn::LinearOptions options) : torch::nn::Linear(options) {
    gain = this->impl_->register_parameter("gain", torch::full({options.out_features(), 1}, 2.0));
    scale = 0.5 * this->impl_->weight[0].numel();
  }
  torch::Tensor forward(torch::Tensor x) {
    return torch::nn::functional::linear(x, impl_->weight * gain * scale, (*impl_).bias);
  }
  bool shares(const GainedLinear& other) const {
    std::shared_ptr<torch::nn::LinearImpl> held = impl_;
    return held == std::shared_ptr<torch::nn::LinearImpl>(other.impl_) && impl_ == other.impl_;
  }
  void drop() { impl_ = nullptr; }
  torch::Tensor gain;
  double scale = 1;
};

TEST(LibTorchSpellings, HolderThatReadsWhatItHolds) {
  GainedLinear gained(torch::nn::LinearOptions(4, 3));
  EXPECT_EQ(gained->parameters().size(), 3U);
  const torch::Tensor x = torch::ones({2, 4});
  const torch::Tensor expected = torch::nn::functional::linear(x, gained->weight * 4, gained->bias);
  EXPECT_TRUE(torch::equal(gained.forward(x), expected));
  GainedLinear same = gained;
  EXPECT_TRUE(same.shares(gained));
  EXPECT_FALSE(GainedLinear(torch::nn::LinearOptions(4, 3)).shares(gained));
  same.drop();
  EXPECT_TRUE(same.is_empty());
  EXPECT_FALSE(gained.is_empty());
}

TEST(LibTorchSpellings, LoaderWithWorkers) {
  auto set = torch::data::datasets::TensorDataset({torch::ones({3}), torch::zeros({3})})
                 .map(torch::data::transforms::Stack<torch::data::TensorExample>());
  auto loader = torch::data::make_data_loader(
      std::move(set),
      torch::data::DataLoaderOptions().batch_size(2).workers(2).timeout(std::chrono::seconds(20)));
  for (auto& batch : *loader) EXPECT_EQ(batch.data.sum().item<float>(), 3);
}

}  // namespace
