// Parts of LibTorch that programs rarely name: warnings, modes, storages, and what loaders of their
// own are made of. The expected values are LibTorch's.
#include <gtest/gtest.h>
#include "groove/compat/torch/torch.h"

#include <thread>

namespace {

struct Warnings : c10::WarningHandler {
  void process(const c10::Warning& warning) override { texts.push_back(warning.msg()); }
  std::vector<std::string> texts;
};
// As releases before 1.14 are asked.
struct OldWarnings : c10::WarningHandler {
  void process(const c10::SourceLocation& place, const std::string& text, bool) override {
    texts.push_back(text + " " + std::to_string(place.line > 0));
  }
  std::vector<std::string> texts;
};

void warn_often() {
  for (int i = 0; i < 3; ++i) {
    TORCH_WARN("often");
    TORCH_WARN_ONCE("once");
  }
}

TEST(LibtorchParts, WarningsEachTimeAndOnce) {
  Warnings handler;
  const c10::WarningUtils::WarningHandlerGuard guard(&handler);
  warn_often();
  EXPECT_EQ(handler.texts, (std::vector<std::string>{"often", "once", "often", "often"}));
  handler.texts.clear();
  {
    const c10::Warning::WarnAlways always(true);
    warn_often();
  }
  EXPECT_EQ(handler.texts.size(), 6U);
  handler.texts.clear();
  warn_often();
  EXPECT_EQ(handler.texts.size(), 3U);
}

TEST(LibtorchParts, HandlersOfOlderReleases) {
  OldWarnings handler;
  c10::WarningHandler* const before = c10::Warning::get_warning_handler();
  c10::Warning::set_warning_handler(&handler);
  TORCH_WARN("a");
  c10::Warning::set_warning_handler(before);
  EXPECT_EQ(handler.texts, std::vector<std::string>{"a 1"});
}

TEST(LibtorchParts, InferenceModesInsideEachOther) {
  using torch::autograd::InferenceMode;
  const auto expect = [](bool is_inference) {
    EXPECT_EQ(InferenceMode::is_enabled(), is_inference);
    EXPECT_EQ(torch::GradMode::is_enabled(), !is_inference);
  };
  expect(false);
  {
    const InferenceMode outer;
    expect(true);
    {
      const InferenceMode inner(false);
      expect(false);
    }
    expect(true);
    EXPECT_FALSE(torch::ones({2}, torch::requires_grad()).mul(2).requires_grad());
  }
  expect(false);
  const torch::NoGradGuard guard;
  EXPECT_FALSE(InferenceMode::is_enabled());
}

TEST(LibtorchParts, Storages) {
  std::vector<double> lent = {1, 2, 3};
  const auto over = torch::from_blob(lent.data(), {3}, torch::kDouble);
  EXPECT_EQ(over.storage().data(), lent.data());
  EXPECT_EQ(over.storage().data_ptr().get_context(), nullptr);
  EXPECT_EQ(over.slice(0, 1).storage().data_ptr().get(), lent.data());
  EXPECT_EQ(over.storage().nbytes(), 24U);
  const auto own = torch::arange(6.);
  EXPECT_NE(own.storage().data_ptr().get_context(), nullptr);
  EXPECT_TRUE(own.storage().is_alias_of(own.view({2, 3})[1].storage()));
  EXPECT_FALSE(own.storage().is_alias_of(over.storage()));
  static_cast<float*>(own.storage().data())[4] = 40;
  EXPECT_EQ(own[4].item<float>(), 40);
  EXPECT_THROW(torch::Tensor().storage(), torch::Error);
  // A storage, its address and what they print are bools, as in LibTorch.
  const bool is_there = own.storage();
  EXPECT_TRUE(is_there && !torch::UntypedStorage());
  EXPECT_EQ(groove::str(own.storage(), own.storage().data_ptr()), "11");
}

TEST(LibtorchParts, LayoutsThatAreNotThere) {
  EXPECT_EQ(torch::layout(torch::kSparse).layout(), torch::kSparse);
  EXPECT_FALSE(torch::TensorOptions().has_layout());
  for (const auto& make : std::vector<std::function<void()>>{
           [] { torch::zeros({2}, torch::layout(torch::kSparse)); },
           [] { torch::empty({2}, torch::dtype(torch::kInt).layout(torch::kSparse)); },
           [] {
             torch::tensor({1, 2}, torch::layout(torch::kSparse));
           }}) {
    try {
      make();
      ADD_FAILURE() << "a sparse tensor";
    } catch (const torch::Error& error) {
      EXPECT_NE(std::string(error.what()).find("sparse"), std::string::npos) << error.what();
    }
  }
  EXPECT_EQ(torch::zeros({2}, torch::layout(torch::kStrided)).numel(), 2);
}

TEST(LibtorchParts, FunctionsWithoutGradients) {
  struct Twice : torch::autograd::Function<Twice> {
    static torch::Tensor forward(torch::autograd::AutogradContext*, torch::Tensor x) {
      return x * 2;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   torch::autograd::variable_list gradients) {
      using torch::autograd::IndexRange;
      EXPECT_TRUE(context->needs_input_grad({IndexRange{0, 1}}));
      EXPECT_FALSE(context->needs_input_grad({IndexRange{1, 3}}));
      return gradients;
    }
  };
  const auto x = torch::ones({1}, torch::requires_grad());
  torch::autograd::UndefinedGrad().apply({Twice::apply(x)})[0].backward();
  EXPECT_FALSE(x.grad().defined());  // LibTorch goes on, with zeros
  Twice::apply(x).backward();
  EXPECT_EQ(x.grad().item<float>(), 1);
  const auto y = torch::autograd::make_variable(x * 3, true);
  EXPECT_TRUE(y.is_leaf() && y.requires_grad());
  EXPECT_EQ(y.item<float>(), 3);
}

// Its backward calls backward() of another one, until the number is used up.
struct Nested : torch::autograd::Function<Nested> {
  static torch::Tensor forward(torch::autograd::AutogradContext* context, torch::Tensor x) {
    const torch::AutoGradMode mode(true);
    const auto inner = torch::autograd::make_variable(x, true) - 1;
    context->saved_data["inner"] = inner;
    return inner.detach();
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const auto inner = context->saved_data["inner"].toTensor();
    const torch::AutoGradMode mode(true);
    if (inner.item<float>() > 0) apply(inner)[0].sum().backward();
    return gradients;
  }
};

TEST(LibtorchParts, BackwardInsideBackwardAsDeepAsTheStackGoes) {
  const auto run = [](float depth) {
    const auto x = torch::full({1}, depth, torch::requires_grad());
    Nested::apply(x).sum().backward();
    return x.grad();
  };
  EXPECT_EQ(run(300).item<float>(), 1);
  std::string text;
  std::thread deep([&] {  // whose stack has an end, whatever the system allows
    try {
      run(1e6f);
    } catch (const torch::Error& error) {
      text = error.what();
    }
  });
  deep.join();
  EXPECT_NE(text.find("the stack has no room"), std::string::npos) << text;
  EXPECT_EQ(run(3).item<float>(), 1);
}

TEST(LibtorchParts, QueuesBetweenThreads) {
  torch::data::detail::DataShuttle<int, int> shuttle;
  std::thread worker([&] {
    for (int job = shuttle.pop_job(); job > 0; job = shuttle.pop_job()) shuttle.push_result(-job);
  });
  for (int job = 1; job <= 3; ++job) shuttle.push_job(job);
  for (int job = 1; job <= 3; ++job) EXPECT_EQ(shuttle.pop_result(), -job);
  EXPECT_EQ(shuttle.pop_result(), std::nullopt);
  shuttle.push_job(0);
  worker.join();
  shuttle.push_job(1);
  shuttle.push_job(2);
  shuttle.push_result(-shuttle.pop_job());
  shuttle.push_result(0);  // of the job that ended the worker
  shuttle.drain();
  EXPECT_EQ(shuttle.in_flight_jobs(), 0U);
  torch::data::detail::Queue<int> queue;
  EXPECT_THROW(queue.pop(std::chrono::milliseconds(1)), torch::Error);
}

TEST(LibtorchParts, SequencersReorder) {
  struct Numbered {
    std::size_t sequence_number;
  };
  torch::data::detail::sequencers::OrderedSequencer<Numbered> sequencer(5);
  const std::vector<std::size_t> order = {0, 2, 4, 3, 1};
  std::size_t taken = 0;
  for (std::size_t i = 0; i < 5; ++i)
    EXPECT_EQ(sequencer.next([&] { return Numbered{order.at(taken++)}; })->sequence_number, i);
}

TEST(LibtorchParts, DenseTensorsAreJoinedAndParted) {
  const std::vector<torch::Tensor> parts = {torch::ones({2, 2}), torch::empty({0}),
                                            torch::arange(3.)};
  const auto flat = torch::utils::flatten_dense_tensors(parts);
  EXPECT_EQ(flat.numel(), 7);
  const auto again = torch::utils::unflatten_dense_tensors(flat, parts);
  for (std::size_t i = 0; i < parts.size(); ++i) EXPECT_TRUE(torch::equal(again[i], parts[i]));
}

TEST(LibtorchParts, IndicesThatAreTensors) {
  const auto x = torch::arange(12.).view({3, 4});
  const auto rows = torch::tensor({2, 0});
  EXPECT_TRUE(torch::equal(at::index(x, {rows}), x.index({rows})));
  EXPECT_TRUE(torch::equal(at::index(x, {torch::Tensor(), rows}),
                           x.index({torch::indexing::Slice(), rows})));
  auto y = x.clone();
  at::index_put_(y, {rows}, torch::ones({4}));
  EXPECT_EQ(y.sum().item<float>(), 8 + x[1].sum().item<float>());
}

static_assert(torch::all_of<>::value && !torch::all_of<true, false>::value);
static_assert(torch::any_of<false, true>::value && !torch::any_of<>::value);
static_assert(torch::detail::is_module<torch::nn::LinearImpl>::value);
static_assert(std::is_same_v<
              torch::detail::return_type_of_forward<torch::nn::LinearImpl, torch::Tensor>::type,
              torch::Tensor>);

}  // namespace
