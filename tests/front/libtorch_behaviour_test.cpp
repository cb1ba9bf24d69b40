// What LibTorch's modules, optimizers and loaders do in corners that programs rely on. The numbers
// are LibTorch 2.15's own.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <set>

#include "front_files.h"
#include "groove/autograd.h"
#include "groove/data.h"
#include "groove/factories.h"
#include "groove/nn.h"
#include "groove/ops/creation.h"
#include "groove/ops/math.h"
#include "groove/ops/reductions.h"
#include "groove/ops/views.h"
#include "groove/optim.h"
#include "groove/random.h"

namespace groove {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}
bool says(const std::function<void()>& action, const std::string& text) {
  const std::string message = message_of(action);
  EXPECT_NE(message.find(text), std::string::npos) << message;
  return message.find(text) != std::string::npos;
}
void expect_values(const Tensor& tensor, const std::vector<double>& expected, double tolerance) {
  const Tensor flat = tensor.detach().to(kDouble).reshape({-1});
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size()));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(flat[static_cast<std::int64_t>(i)].item<double>(), expected[i], tolerance) << i;
}

// ---- clone ----

struct InnerImpl : nn::Cloneable<InnerImpl> {
  InnerImpl() { reset(); }
  void reset() override { fc = register_module("fc", nn::Linear(2, 2)); }
  nn::Linear fc{nullptr};
  int plain = 1;
};
GROOVE_MODULE(Inner);
struct OuterImpl : nn::Cloneable<OuterImpl> {
  OuterImpl() { reset(); }
  void reset() override { inner = register_module("inner", Inner()); }
  Inner inner{nullptr};
  int plain = 1;
};

TEST(Clone, KeepsPlainMembersOfSubmodules) {
  OuterImpl original;
  original.plain = 5;
  original.inner->plain = 7;
  original.inner->fc->eval();
  nn::init::constant_(original.inner->fc->weight, 3);
  const auto copy = std::dynamic_pointer_cast<OuterImpl>(original.clone());
  EXPECT_EQ(copy->plain, 5);
  EXPECT_EQ(copy->inner->plain, 7);
  EXPECT_FALSE(copy->inner->fc->is_training());
  EXPECT_EQ(copy->inner->fc->weight[0][0].item<float>(), 3);
  // What is registered is what the members hold, and not the original's.
  EXPECT_TRUE(copy->named_parameters()["inner.fc.weight"].is_same(copy->inner->fc->weight));
  EXPECT_FALSE(copy->inner->fc->weight.is_same(original.inner->fc->weight));
  nn::init::constant_(copy->inner->fc->weight, 1);
  EXPECT_EQ(original.inner->fc->weight[0][0].item<float>(), 3);
}

TEST(Clone, EveryModuleOfTheLibrary) {
  const std::vector<std::shared_ptr<nn::Module>> modules = {
      nn::Linear(3, 4).ptr(),
      nn::Conv2d(nn::Conv2dOptions(2, 4, 3)).ptr(),
      nn::BatchNorm1d(3).ptr(),
      nn::LayerNorm(nn::LayerNormOptions({3})).ptr(),
      nn::Embedding(4, 2).ptr(),
      nn::LSTM(nn::LSTMOptions(2, 3).num_layers(2)).ptr(),
      nn::GRUCell(2, 3).ptr(),
      nn::PReLU().ptr(),
      nn::Functional(groove::relu).ptr(),
      nn::Sequential(nn::Linear(2, 2), nn::ReLU()).ptr(),
      nn::ModuleList(nn::Linear(2, 2)).ptr(),
      nn::ParameterList(rand({2}, requires_grad())).ptr()};
  for (const auto& module : modules) {
    module->eval();
    const auto copy = module->clone();
    EXPECT_EQ(copy->name(), module->name());
    EXPECT_FALSE(copy->is_training());
    const auto mine = copy->named_parameters(), theirs = module->named_parameters();
    ASSERT_EQ(mine.keys(), theirs.keys());
    for (const auto& item : mine) {
      EXPECT_TRUE(equal(item.value(), theirs[item.key()])) << item.key();
      EXPECT_NE(item.value().data_ptr(), theirs[item.key()].data_ptr());
    }
  }
}

TEST(Module, TheTopOneNeedsASharedPointer) {
  struct Plain : nn::Module {};
  Plain on_the_stack;
  says([&] { on_the_stack.modules(); }, "but it is not stored in a shared_ptr");
  EXPECT_TRUE(on_the_stack.modules(false).empty());
  const auto shared = std::make_shared<Plain>();
  EXPECT_EQ(shared->modules()[0], shared);
  int visits = 0;
  shared->apply([&](const std::shared_ptr<nn::Module>& each) { visits += each == shared; });
  EXPECT_EQ(visits, 1);
}

TEST(Module, ZeroGradFollowsAParameterThatIsExchanged) {
  nn::ParameterList list(ones({1}, requires_grad()), ones({1}, requires_grad()));
  const Tensor other = ones({1}, requires_grad());
  for (int i = 0; i < 40; ++i) {
    if (i == 30) list[1] = other;
    list->zero_grad();
    EXPECT_FALSE(list[1].grad().defined()) << i;
    (list[0] * list[1]).sum().backward();
  }
  EXPECT_TRUE(other.grad().defined());
}

// ---- containers ----

struct Affine : nn::Module {
  Tensor forward(Tensor x, double factor = 2.0, int times = 1) { return x * factor * times; }

 protected:
  GROOVE_FORWARD_HAS_DEFAULT_ARGS({1, nn::AnyValue(2.0)}, {2, nn::AnyValue(1)})
};

TEST(Sequential, ModulesWithDefaultArguments) {
  nn::Sequential net(Affine{}, Affine{});
  EXPECT_EQ(net->forward(ones({1})).item<float>(), 4);
  EXPECT_EQ(net->forward(ones({1}), 3.0).item<float>(), 6);
  EXPECT_EQ(net[0]->name(), net[1]->name());
  says([&] { net->forward(); }, "expects at least 1 argument(s) and at most 3 argument(s)");
  says([&] { net->forward<int>(ones({1})); }, "but you asked for type int");
}

TEST(Containers, SayWhatIsWrong) {
  nn::Sequential net({{"fc", nn::Linear(1, 1)}});
  says([&] { net->forward(); }, "forward() method expects 1 argument(s), but received 0");
  says([&] { net->forward(3); }, "Expected argument #0 to be of type groove::Tensor, but ");
  says([&] { net->ptr(3); }, "Index out of range");
  says([&] { net->at<nn::ReLUImpl>(0); },
       "Attempted to cast module of type groove::nn::LinearImpl");
  says([] { nn::Sequential({{"a", nn::ReLU()}, {"a", nn::ReLU()}}); }, "'a' already defined");
  says([] { nn::Sequential({{"a.b", nn::ReLU()}}); }, "must not contain a dot (got 'a.b')");
  says([] { nn::AnyModule().ptr(); }, "Cannot call ptr() on an empty AnyModule");
  nn::ModuleList list(nn::Linear(1, 1));
  says([&] { list->at<nn::ReLUImpl>(0); }, "Unable to cast module[0]");
  says([&] { list->insert(5, nn::ReLU()); }, "Index out of range");
  says([&] { list[1]; }, "Index out of range");
  OrderedDict<std::string, int> empty;
  says([&] { empty.front(); }, "Called front() on an empty OrderedDict");
  says([&] { empty.back(); }, "Called back() on an empty OrderedDict");
  says([&] { empty[3]; }, "Index 3 is out of bounds");
}

TEST(ModuleList, InsertMovesTheLaterOnesUp) {
  nn::ModuleList list(nn::Linear(1, 1), nn::Linear(2, 2));
  list->insert(1, nn::Tanh());
  list->insert(3, nn::ReLU());
  EXPECT_NE(list[1]->as<nn::Tanh>(), nullptr);
  EXPECT_EQ(list->at<nn::LinearImpl>(2).options.in_features(), 2);
  EXPECT_EQ(list->named_children()["2"], list->ptr(2));
  EXPECT_EQ(list->named_parameters().keys().back(), "2.bias");
}

TEST(ModuleDict, IsADictionaryOfModules) {
  nn::ModuleDict dict(
      OrderedDict<std::string, std::shared_ptr<nn::Module>>({{"fc", nn::Linear(1, 1).ptr()}}));
  nn::ModuleDict::Impl::Pairs more = {{"act", nn::ReLU().ptr()}, {"fc", nn::Linear(2, 2).ptr()}};
  dict->update(more);
  EXPECT_EQ(dict->keys(), (std::vector<std::string>{"fc", "act"}));
  EXPECT_EQ(dict->at<nn::LinearImpl>("fc").options.in_features(), 2);
  EXPECT_NE(dict->pop("act")->as<nn::ReLU>(), nullptr);
  says([&] { dict["act"]; }, "'act' is not defined");
  EXPECT_EQ(dict->parameters().size(), 2u);
  dict->clear();
  EXPECT_TRUE(dict->parameters().empty());
}

TEST(ParameterDict, KeepsWhatRequiresAGradient) {
  nn::ParameterDict dict;
  dict->insert("a", ones({2}, requires_grad()));
  dict->insert("b", ones({2}));
  EXPECT_TRUE(dict["a"].requires_grad());
  EXPECT_FALSE(dict["b"].requires_grad());
  nn::ParameterDict other;
  other->insert("a", zeros({2}));
  other->insert("c", zeros({2}));
  EXPECT_THROW(dict->update(*other), Error);
  EXPECT_EQ(dict["a"].sum().item<float>(), 2);  // nothing has changed
  EXPECT_EQ(dict->parameters().size(), 2u);
}

// ---- optimizers ----

template <typename Options>
const Options& group_of(const optim::Optimizer& optimizer, std::size_t at = 0) {
  return static_cast<const Options&>(optimizer.param_groups()[at].options());
}
template <typename Options>
std::vector<optim::OptimizerParamGroup> one_group(Options options) {
  std::vector<optim::OptimizerParamGroup> groups;
  groups.emplace_back(std::vector<Tensor>{ones({2}, requires_grad())},
                      std::make_unique<Options>(options));
  return groups;
}

TEST(ParamGroups, InheritWhatIsLeftAtItsDefault) {
  using namespace optim;
  {
    const SGD sgd(one_group(SGDOptions(0.25)), SGDOptions(0.5).momentum(0.9).weight_decay(0.1));
    EXPECT_EQ(group_of<SGDOptions>(sgd).lr(), 0.25);
    EXPECT_EQ(group_of<SGDOptions>(sgd).momentum(), 0.9);
    EXPECT_EQ(group_of<SGDOptions>(sgd).weight_decay(), 0.1);
    const SGD own(one_group(SGDOptions(1e-3).momentum(0.5)), SGDOptions(0.5).momentum(0.9));
    EXPECT_EQ(group_of<SGDOptions>(own).lr(), 0.5);  // 1e-3 counts as not given
    EXPECT_EQ(group_of<SGDOptions>(own).momentum(), 0.5);
  }
  {
    Adam adam(one_group(AdamOptions().weight_decay(0.1)),
              AdamOptions(0.02).betas({0.5, 0.6}).eps(1e-3).amsgrad(true));
    adam.add_param_group(one_group(AdamOptions(1e-3))[0]);
    EXPECT_EQ(group_of<AdamOptions>(adam).lr(), 0.02);
    EXPECT_EQ(std::get<1>(group_of<AdamOptions>(adam).betas()), 0.6);
    EXPECT_TRUE(group_of<AdamOptions>(adam).amsgrad());
    EXPECT_EQ(group_of<AdamOptions>(adam).weight_decay(), 0.1);
    EXPECT_EQ(group_of<AdamOptions>(adam, 1).lr(), 0.02);
    EXPECT_THROW(adam.add_param_group(one_group(SGDOptions(0.1))[0]), Error);
    EXPECT_THROW(adam.add_param_group(one_group(AdamOptions(-1))[0]), Error);
    EXPECT_EQ(adam.param_groups().size(), 2u);
  }
  const AdamW adamw(one_group(AdamWOptions().lr(0.5)), AdamWOptions(0.02).weight_decay(0.3));
  EXPECT_EQ(group_of<AdamWOptions>(adamw).weight_decay(), 0.3);
  const RMSprop rmsprop(one_group(RMSpropOptions().momentum(0.5)),
                        RMSpropOptions(0.02).alpha(0.3).centered(true));
  EXPECT_EQ(group_of<RMSpropOptions>(rmsprop).alpha(), 0.3);
  EXPECT_TRUE(group_of<RMSpropOptions>(rmsprop).centered());
  const Adagrad adagrad(one_group(AdagradOptions().lr_decay(0.5)), AdagradOptions(0.02).eps(0.3));
  EXPECT_EQ(group_of<AdagradOptions>(adagrad).eps(), 0.3);
  EXPECT_EQ(group_of<AdagradOptions>(adagrad).lr_decay(), 0.5);
  EXPECT_EQ(group_of<AdagradOptions>(adagrad).lr(), 0.02);
}

template <typename Optimizer>
void step_on(Optimizer& optimizer, const Tensor& x) {
  optimizer.zero_grad();
  (x * x).sum().backward();
  optimizer.step();
}

TEST(Lbfgs, FindsTheMinimumOfRosenbrocksValley) {
  for (const bool searches : {false, true}) {
    const Tensor x = tensor({-0.5, 0.7}, TensorOptions(kDouble)).requires_grad_();
    optim::LBFGSOptions options(searches ? 1 : 0.1);
    options.max_iter(40);
    if (searches) options.line_search_fn("strong_wolfe");
    optim::LBFGS lbfgs({x}, options);
    const auto closure = [&] {
      lbfgs.zero_grad();
      const Tensor loss = (x[1] - x[0].pow(2)).pow(2) * 10 + (x[0] - 1).pow(2);
      loss.backward();
      return loss;
    };
    for (int i = 0; i < 10; ++i) lbfgs.step(closure);
    expect_values(x, {1, 1}, 1e-4);
    EXPECT_THROW(lbfgs.step(nullptr), Error);
  }
}

TEST(Optimizers, Move) {
  const auto train = [](bool moves) {
    const Tensor x = full({3}, 2.0, requires_grad());
    optim::Adam adam = optim::Adam({x}, optim::AdamOptions(0.1));
    for (int i = 0; i < 20; ++i) step_on(adam, x);
    if (!moves) {
      for (int i = 0; i < 40; ++i) step_on(adam, x);
      return x.detach();
    }
    std::vector<optim::Adam> all;
    all.push_back(std::move(adam));
    EXPECT_EQ(adam.size(), 0u);
    adam.step();  // nothing to do
    for (int i = 0; i < 20; ++i) step_on(all[0], x);
    optim::Adam last({ones({1}, requires_grad())}, optim::AdamOptions(0.3));
    last = std::move(all[0]);
    EXPECT_EQ(group_of<optim::AdamOptions>(last).lr(), 0.1);
    EXPECT_EQ(last.state().size(), 1u);
    for (int i = 0; i < 20; ++i) step_on(last, x);
    return x.detach();
  };
  EXPECT_TRUE(same_bits(train(false), train(true)));
}

// ---- gradients' norm, embeddings, projections, padding ----

TEST(ClipGradNorm, OfEveryOrder) {
  const double inf = kInfinity;
  struct Known {
    double order, total, first, second;
  };
  for (const Known& known :
       {Known{0, 2, -1.5, 1}, Known{-1, 0, -3, 2}, Known{-2, 0, -3, 2},
        Known{1, 11, -0.272727, 0.181818}, Known{3, 5.44012, -0.551458, 0.367639},
        Known{inf, 5, -0.6, 0.4}, Known{-inf, 0, -3, 2}}) {
    const Tensor a = ones({3}, requires_grad()), b = ones({2}, requires_grad());
    a.mutable_grad() = tensor({1.f, 0.f, -3.f});
    b.mutable_grad() = tensor({2.f, 5.f});
    EXPECT_NEAR(nn::utils::clip_grad_norm_({a, b}, 1.0, known.order), known.total, 1e-5)
        << known.order;
    EXPECT_NEAR(a.grad()[2].item<double>(), known.first, 1e-5) << known.order;
    EXPECT_NEAR(b.grad()[0].item<double>(), known.second, 1e-5) << known.order;
  }
  const Tensor x = ones({2}, requires_grad());
  EXPECT_EQ(nn::utils::clip_grad_norm_({x}, 1.0, 0.0), 0);  // no gradient
  x.mutable_grad() = tensor({1.f, std::nanf("")});
  says([&] { nn::utils::clip_grad_norm_({x}, 1.0, 2.0, true); }, "is non-finite");
  EXPECT_EQ(x.grad()[0].item<float>(), 1);
  EXPECT_TRUE(std::isnan(nn::utils::clip_grad_norm_({x}, 1.0)));
  EXPECT_TRUE(std::isnan(x.grad()[0].item<float>()));
}

TEST(Embedding, MaxNormWritesToTheTable) {
  for (const bool is_first_order : {false, true}) {
    nn::Embedding table(
        nn::EmbeddingOptions(3, 2).max_norm(1.0).norm_type(is_first_order ? 1.0 : 2.0));
    {
      const NoGradGuard no_grad;
      table->weight.copy_(tensor({{3.f, 4.f}, {0.1f, 0.2f}, {6.f, 8.f}}));
    }
    const Tensor rows = table(tensor({0, 1, 0}));
    const double a = is_first_order ? 3. / 7 : 0.6, b = is_first_order ? 4. / 7 : 0.8;
    expect_values(rows, {a, b, 0.1, 0.2, a, b}, 1e-6);
    expect_values(table->weight, {a, b, 0.1, 0.2, 6, 8}, 1e-6);
    rows.sum().backward();
    expect_values(table->weight.grad(), {2, 2, 1, 1, 0, 0}, 0);
  }
  const Tensor given = tensor({{3.f, 4.f}, {0.1f, 0.2f}});
  const auto fixed =
      nn::Embedding::from_pretrained(given, nn::EmbeddingFromPretrainedOptions().max_norm(1.0));
  EXPECT_NEAR(nn::Embedding(fixed)(tensor({0}))[0][1].item<double>(), 0.8, 1e-6);
  EXPECT_NEAR(given[0][1].item<double>(), 0.8, 1e-6);
}

// Beside a table that is trained: every lookup sees rows within bounds, in either mode alike.
TEST(Embedding, MaxNormInATrainedLoop) {
  manual_seed(3);
  nn::Embedding table(nn::EmbeddingOptions(5, 3).max_norm(0.5));
  optim::SGD sgd(table->parameters(), 0.7);
  const Tensor indices = tensor({0, 3, 3, 1});
  for (int i = 0; i < 60; ++i) {
    sgd.zero_grad();
    const Tensor rows = table(indices);
    EXPECT_LE(rows.norm(2, {1}).max().item<double>(), 0.5 + 1e-6) << i;
    (rows - 1).pow(2).sum().backward();
    sgd.step();
  }
}

TEST(Embedding, GradientsScaledByFrequency) {
  nn::Embedding table(nn::EmbeddingOptions(3, 2).scale_grad_by_freq(true));
  (table(tensor({0, 1, 0, 0})) * tensor({{1.f}, {2.f}, {3.f}, {5.f}})).sum().backward();
  expect_values(table->weight.grad(), {3, 3, 2, 2, 0, 0}, 1e-6);
}

TEST(Lstm, Projections) {
  nn::LSTM lstm(nn::LSTMOptions(2, 3).proj_size(2).num_layers(2).bidirectional(true));
  for (auto& item : lstm->named_parameters()) {
    const NoGradGuard no_grad;
    item.value().copy_((arange(item.value().numel(), kFloat) * 0.37).sin().view_as(item.value()));
  }
  EXPECT_EQ(lstm->named_parameters().keys()[4], "weight_hr_l0");
  EXPECT_EQ(lstm->named_parameters()["weight_ih_l1"].sizes(), IntArrayRef({12, 4}));
  const auto [output, states] = lstm(arange(8, kFloat).view({2, 2, 2}) * 0.1);
  const auto& [h, c] = states;
  expect_values(output,
                {0.0107, 0.3317, -0.0133, 0.4175, 0.0183, 0.3379, 0.0386, 0.5326, -0.0287, 0.3895,
                 -0.0100, 0.2931, 0.0566, 0.5330, 0.0426, 0.3506},
                6e-5);
  EXPECT_EQ(h.sizes(), IntArrayRef({4, 2, 2}));
  expect_values(c[3], {0.9889, -0.2683, 0.3730, 0.9351, 0.0998, 0.3937}, 6e-5);
  EXPECT_THROW(nn::LSTM(nn::LSTMOptions(4, 3).proj_size(3)), Error);
  EXPECT_THROW(nn::LSTM(nn::LSTMOptions(4, 3).proj_size(-1)), Error);
}

// Packed sequences give what each sequence gives alone.
TEST(Recurrent, PackedSequences) {
  namespace rnn = nn::utils::rnn;
  manual_seed(5);
  nn::LSTM lstm(nn::LSTMOptions(2, 3).num_layers(2).bidirectional(true));
  const std::vector<Tensor> sequences = {rand({3, 2}), rand({5, 2}), rand({1, 2}), rand({3, 2})};
  const rnn::PackedSequence packed = rnn::pack_sequence(sequences, false);
  expect_values(packed.batch_sizes(), {4, 3, 3, 1, 1}, 0);
  const auto [output, states] = lstm->forward_with_packed_input(packed);
  const auto [padded, lengths] = rnn::pad_packed_sequence(output, true);
  expect_values(lengths, {3, 5, 1, 3}, 0);
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    const auto n = static_cast<std::int64_t>(i);
    const auto [alone, of_it] = lstm(sequences[i].unsqueeze(1));
    EXPECT_TRUE(allclose(padded[n].narrow(0, 0, alone.size(0)), alone.squeeze(1))) << i;
    for (const auto& [all, one] : {std::pair(std::get<0>(states), std::get<0>(of_it)),
                                   std::pair(std::get<1>(states), std::get<1>(of_it))})
      EXPECT_TRUE(allclose(all.select(1, n), one.select(1, 0))) << i;
  }
  says([&] { rnn::pack_sequence(sequences); }, "must be sorted in decreasing order");
  says([&] { rnn::pad_packed_sequence(packed, false, 0, 4); }, "Expected total_length to be at");
}

TEST(Convolution, SamePaddingNeedsStrideOneAtConstruction) {
  says([] { nn::Conv2d(nn::Conv2dOptions(1, 1, 3).stride(2).padding(kSame)); },
       "is not supported for strided convolutions");
  EXPECT_NO_THROW(nn::Conv2d(nn::Conv2dOptions(1, 1, 3).padding(std::vector<std::int64_t>{1, 0})));
}

// ---- loaders ----

struct Numbers : data::Dataset<Numbers, int> {
  int get(std::size_t index) override { return static_cast<int>(index); }
  std::optional<std::size_t> size() const override { return 10; }
};

TEST(Loader, ANumberIsTheBatchSize) {
  auto loader = data::make_data_loader(Numbers(), 4);
  EXPECT_EQ(loader->options().batch_size, 4u);
  auto ordered = data::make_data_loader<data::samplers::SequentialSampler>(Numbers(), 4);
  auto at = ordered->begin();
  EXPECT_EQ(*at, (std::vector<int>{0, 1, 2, 3}));
  auto same = at;
  ++same;
  EXPECT_EQ(*at, (std::vector<int>{4, 5, 6, 7}));
  ++at;
  EXPECT_EQ(at->size(), 2u);
  ++at;
  EXPECT_TRUE(at == ordered->end() && same == ordered->end());
  says([&] { ++at; }, "Attempted to increment iterator past the end");
  says([&] { *at; }, "Attempted to dereference iterator that was past the end");
  says([&] { ++ordered->end(); }, "past-the-end iterator is not allowed");
}

TEST(Loader, BeginWhileBatchesAreBeingFetched) {
  auto loader = data::make_data_loader(Numbers(), data::DataLoaderOptions(1).workers(2));
  auto at = loader->begin();
  says([&] { loader->begin(); }, "while another iterator is not yet exhausted");
  while (at != loader->end()) ++at;
  EXPECT_NO_THROW(loader->begin());
}

TEST(Loader, StatefulAndSharedDatasets) {
  struct Countdown : data::datasets::StatefulDataset<Countdown, int> {
    std::optional<int> get_batch(std::size_t) override {
      const int taken = left.fetch_sub(1);
      return taken > 0 ? std::optional<int>(taken) : std::nullopt;
    }
    std::optional<std::size_t> size() const override { return std::nullopt; }
    void reset() override { left = 7; }
    void save(serialize::OutputArchive&) const override {}
    void load(serialize::InputArchive&) override {}
    std::atomic<int> left{0};
  };
  for (const std::size_t workers : {0, 3}) {
    auto loader = data::make_data_loader(data::datasets::make_shared_dataset<Countdown>(),
                                         data::DataLoaderOptions(1).workers(workers));
    for (int epoch = 0; epoch < 3; ++epoch) {
      std::multiset<int> seen;
      for (const int each : *loader) seen.insert(each);
      EXPECT_EQ(seen, (std::multiset<int>{1, 2, 3, 4, 5, 6, 7})) << workers;
    }
  }
}

TEST(Loader, Chunks) {
  struct Reader : data::datasets::ChunkDataReader<int> {
    ChunkType read_chunk(std::size_t chunk) override {
      if (chunk == throws_at) throw std::runtime_error("chunk");
      return ChunkType(3, static_cast<int>(chunk));
    }
    std::size_t chunk_count() override { return 5; }
    void reset() override {}
    std::size_t throws_at = 99;
  };
  using Chunks = data::datasets::ChunkDataset<Reader, data::samplers::SequentialSampler,
                                              data::samplers::SequentialSampler>;
  const data::samplers::SequentialSampler in_order(0);
  auto loader = data::make_data_loader(
      data::datasets::make_shared_dataset<Chunks>(Reader(), in_order, in_order,
                                                  data::datasets::ChunkDatasetOptions(1, 4, 8)),
      data::DataLoaderOptions(4));
  for (int epoch = 0; epoch < 2; ++epoch) {
    std::vector<int> all;
    for (const std::vector<int>& batch : *loader) all.insert(all.end(), batch.begin(), batch.end());
    EXPECT_EQ(all, (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4}));
  }
  Reader damaged;
  damaged.throws_at = 0;
  Chunks dataset(damaged, in_order, in_order, data::datasets::ChunkDatasetOptions(1, 4, 8));
  EXPECT_THROW(dataset.get_batch(), Error);
  dataset.reset();
  EXPECT_THROW(dataset.get_batch(), data::WorkerException);
  EXPECT_EQ(dataset.get_batch()->size(), 4u);
  says([] { data::datasets::ChunkDatasetOptions(1, 10, 5); }, "Cache size is less than batch size");
}

TEST(Samplers, PartsOfSeveralProcesses) {
  for (const bool allows_duplicates : {true, false}) {
    std::multiset<std::size_t> seen;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      data::samplers::DistributedRandomSampler random(10, 3, rank, allows_duplicates);
      data::samplers::DistributedSequentialSampler ordered(10, 3, rank, allows_duplicates);
      random.set_epoch(2);
      random.reset();
      std::size_t count = 0;
      while (const auto indices = random.next(3)) seen.insert(indices->begin(), indices->end());
      while (const auto indices = ordered.next(3)) count += indices->size();
      EXPECT_EQ(count, allows_duplicates ? 4u : 3u);
    }
    EXPECT_EQ(seen.size(), allows_duplicates ? 12u : 9u);
    EXPECT_EQ(std::set<std::size_t>(seen.begin(), seen.end()).size(), allows_duplicates ? 10u : 9u);
  }
  EXPECT_THROW(data::samplers::DistributedRandomSampler(10, 3, 3), Error);
}

TEST(ExpandingArray, FromListsOfIntegers) {
  const ExpandingArray<2> from_ints(std::vector<int>{1, 2}),
      from_array(std::array<std::int32_t, 2>{1, 2}), from_list{1, 2},
      from_sizes(ones({1, 2}).sizes());
  for (const auto& each : {from_ints, from_array, from_list, from_sizes})
    EXPECT_EQ(*each, (std::array<std::int64_t, 2>{1, 2}));
  EXPECT_THROW(ExpandingArray<2>(std::vector<int>{1}), Error);
}

}  // namespace
}  // namespace groove
