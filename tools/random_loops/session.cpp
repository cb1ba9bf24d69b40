// Runs a drawn training session, written as a user writes one.
#include "tools/random_loops/session.h"

#include <cmath>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "tools/random_loops/machine.h"
#include "tools/random_loops/random.h"

namespace groove::random_loops {
namespace {

using Network = Session::Network;
using Data = Session::Data;

struct Scaled : autograd::Function<Scaled> {
  static Tensor forward(autograd::AutogradContext* context, Tensor x, double scale) {
    context->saved_data["scale"] = scale;
    return x * scale;
  }
  static autograd::tensor_list backward(autograd::AutogradContext* context,
                                        autograd::tensor_list gradients) {
    return {gradients[0] * context->saved_data["scale"].toDouble(), Tensor()};
  }
};

Tensor activated(const Tensor& x, int kind) {
  switch (kind) {
    case 0:
      return groove::relu(x);
    case 1:
      return groove::tanh(x);
    case 2:
      return groove::gelu(x);
    case 3:
      return groove::sigmoid(x);
    case 4:
      return groove::silu(x);
    default:
      return groove::leaky_relu(x, 0.1);
  }
}

// Inputs are [batch, length, inputs]; what the network makes of them is [batch, outputs].
struct Net : nn::Module {
  explicit Net(const Session& session) : s(session) {
    const std::int64_t flat = std::int64_t{s.length} * s.inputs;
    std::int64_t width = flat;
    switch (s.network) {
      case Network::kConvolution:
        conv = register_module("conv", nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)));
        conv2 = register_module("conv2", nn::Conv2d(nn::Conv2dOptions(4, 4, 3).padding(1)));
        width = 4 * (s.length / 2) * (s.inputs / 2);
        break;
      case Network::kLstm:
        lstm = register_module("lstm", nn::LSTMCell(s.inputs, s.hidden));
        width = s.hidden;
        break;
      case Network::kGru:
        gru = register_module("gru", nn::GRUCell(s.inputs, s.hidden));
        width = s.hidden;
        break;
      case Network::kEmbedding:
        table = register_module("table", nn::Embedding(50, s.inputs));
        break;
      case Network::kAttention:
        keys = register_module("keys", nn::Linear(s.inputs, 3 * s.hidden));
        width = s.hidden;
        break;
      case Network::kFactors:
        factors = register_parameter("factors", groove::randn({s.inputs, s.hidden}) * 0.1);
        width = std::int64_t{s.length} * s.hidden;
        break;
      default:
        break;
    }
    layers = register_module("layers", nn::ModuleList());
    norms = register_module("norms", nn::ModuleList());
    for (int layer = 0; layer < s.layers; ++layer) {
      layers->push_back(nn::Linear(width, s.hidden));
      if (s.norm == 1) norms->push_back(nn::LayerNorm(nn::LayerNormOptions({s.hidden})));
      if (s.norm == 2) norms->push_back(nn::BatchNorm1d(s.hidden));
      width = s.hidden;
    }
    head = register_module("head", nn::Linear(width, s.outputs));
  }

  Tensor features(const Tensor& x) {
    const std::int64_t batch = x.size(0);
    switch (s.network) {
      case Network::kConvolution: {
        auto h = activated(conv->forward(x.unsqueeze(1)), s.activation);
        h = groove::max_pool2d(activated(conv2->forward(h), s.activation), {2, 2});
        return h.reshape({batch, -1});
      }
      case Network::kLstm: {
        auto h = groove::zeros({batch, s.hidden}), c = groove::zeros({batch, s.hidden});
        for (std::int64_t t = 0; t < x.size(1); ++t)
          std::tie(h, c) = lstm->forward(x.select(1, t), std::make_tuple(h, c));
        return h;
      }
      case Network::kGru: {
        auto h = groove::zeros({batch, s.hidden});
        for (std::int64_t t = 0; t < x.size(1); ++t) h = gru->forward(x.select(1, t), h);
        return h;
      }
      case Network::kEmbedding: {
        const auto words = (x.select(2, 0).abs() * 49).clamp(0, 49).to(groove::kLong);
        return (table->forward(words) + x).reshape({batch, -1});
      }
      case Network::kAttention: {
        const auto parts = keys->forward(x).chunk(3, 2);
        const auto scores = parts[0].matmul(parts[1].transpose(1, 2)) / std::sqrt(s.hidden);
        return groove::softmax(scores, 2).matmul(parts[2]).mean(1);
      }
      case Network::kFactors:
        return x.matmul(factors).reshape({batch, -1});
      default:
        return x.reshape({batch, -1});
    }
  }

  Tensor forward(const Tensor& x) {
    auto h = features(x);
    for (std::size_t layer = 0; layer < layers->size(); ++layer) {
      h = layers[layer]->as<nn::Linear>()->forward(h);
      if (s.norm == 1) h = norms[layer]->as<nn::LayerNorm>()->forward(h);
      // Of one row there is no variance.
      if (s.norm == 2 && h.size(0) > 1) h = norms[layer]->as<nn::BatchNorm1d>()->forward(h);
      h = activated(h, s.activation);
      if (s.has_dropout) h = groove::dropout(h, 0.2, is_training());
    }
    if (s.has_function) h = Scaled::apply(h, 0.7);
    return head->forward(h);
  }

  const Session& s;
  nn::Conv2d conv{nullptr}, conv2{nullptr};
  nn::LSTMCell lstm{nullptr};
  nn::GRUCell gru{nullptr};
  nn::Embedding table{nullptr};
  nn::Linear keys{nullptr}, head{nullptr};
  nn::ModuleList layers{nullptr}, norms{nullptr};
  Tensor factors;
};

// ---- data ----

class Loader {
 public:
  explicit Loader(const Session& session) : s_(session), random_(session.seed ^ 0x5eed) {
    row_ = std::size_t(s_.length) * std::size_t(s_.inputs);
    if (s_.data == Data::kSelect) dataset_ = groove::randn({200, s_.length, s_.inputs});
    memory_.resize(row_ * static_cast<std::size_t>(s_.batch));
  }

  std::int64_t rows_of(int step) {
    if (s_.sizes == Session::Sizes::kAny) return 1 + random_.below(s_.batch);
    if (s_.sizes == Session::Sizes::kRaggedLast && step % 10 == 9)
      return std::max(1, s_.batch * 2 / 3);
    return s_.batch;
  }

  Tensor next(int step) {
    const std::int64_t rows = rows_of(step), length = s_.length, inputs = s_.inputs;
    const auto count = static_cast<std::size_t>(rows) * row_;
    const auto fill = [&](float* to) {
      for (std::size_t i = 0; i < count; ++i) to[i] = random_.number();
    };
    switch (s_.data) {
      case Data::kEmptyPointer: {
        auto x = groove::empty({rows, length, inputs});
        fill(x.data_ptr<float>());
        return x;
      }
      case Data::kZerosPointer: {
        auto x = groove::zeros({rows, length, inputs});
        fill(x.data_ptr<float>());
        return x;
      }
      case Data::kAccessor: {
        auto x = groove::zeros({rows, length, inputs});
        auto all = x.accessor<float, 3>();
        for (std::int64_t i = 0; i < rows; ++i)
          for (std::int64_t t = 0; t < length; ++t)
            for (std::int64_t k = 0; k < inputs; ++k) all[i][t][k] = random_.number();
        return x;
      }
      case Data::kBlob:
        fill(memory_.data());
        return groove::from_blob(memory_.data(), {rows, length, inputs});
      case Data::kBlobClone:
        fill(memory_.data());
        return groove::from_blob(memory_.data(), {rows, length, inputs}).clone();
      case Data::kVector: {
        std::vector<float> numbers(count);
        fill(numbers.data());
        return groove::tensor(numbers).reshape({rows, length, inputs});
      }
      case Data::kRows: {
        auto x = groove::zeros({rows, length, inputs});
        for (std::int64_t i = 0; i < rows; ++i)
          x[i] = groove::full({length, inputs}, random_.number());
        return x;
      }
      case Data::kStack: {
        std::vector<Tensor> all;
        for (std::int64_t i = 0; i < rows; ++i)
          all.push_back(groove::full({length, inputs}, random_.number()));
        return groove::stack(all);
      }
      case Data::kElements: {
        auto x = groove::ones({rows, length, inputs}) * 0.1;
        for (std::int64_t i = 0; i < std::min<std::int64_t>(rows, 8); ++i)
          x[i][0][i % inputs] = random_.number();
        return x;
      }
      case Data::kMask: {
        const auto all = groove::randn({2 * rows, length, inputs});
        const auto mask = groove::rand({2 * rows}) > 0.5;
        auto x = all.index({mask});
        return x.size(0) > 0 ? x : all;
      }
      case Data::kSelect:
        return dataset_.index_select(0, groove::randperm(200).slice(0, 0, rows));
      default:
        return groove::randn({rows, length, inputs});
    }
  }

 private:
  const Session& s_;
  Random random_;
  std::size_t row_;
  Tensor dataset_;
  std::vector<float> memory_;
};

// Makes one batch ahead on a thread of its own.
class DataThread {
 public:
  explicit DataThread(std::function<Tensor()> make)
      : make_(std::move(make)), thread_([this] { work(); }) {}
  ~DataThread() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Tensor next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ready_.has_value(); });
    Tensor batch = std::move(*ready_);
    ready_.reset();
    changed_.notify_all();
    return batch;
  }

 private:
  void work() {
    for (;;) {
      Tensor batch = make_();
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !ready_ || is_over_; });
      if (is_over_) return;
      ready_ = std::move(batch);
      changed_.notify_all();
    }
  }
  std::function<Tensor()> make_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Tensor> ready_;
  bool is_over_ = false;
  std::thread thread_;
};

// ---- the loop ----

Tensor target_of(const Session& s, const Tensor& x) {
  const auto sums = x.reshape({x.size(0), -1}).mean(1, true);
  if (s.loss == 1) return (sums.squeeze(1) > 0).to(groove::kLong);
  return sums.expand({x.size(0), s.outputs}).sin();
}

Tensor loss_of(const Session& s, const Tensor& made, const Tensor& target) {
  if (s.loss == 1)
    return groove::cross_entropy_loss(s.outputs > 1 ? made : groove::cat({made, -made}, 1), target);
  if (s.loss == 2) return groove::smooth_l1_loss(made, target);
  return groove::mse_loss(made, target);
}

struct Loop {
  Loop(const Session& session, std::FILE* to) : s(session), log(to) {}

  void show(const char* what, int step, double value) {
    std::fprintf(log, "%s %d %a\n", what, step, std::isnan(value) ? NAN : value);
  }

  Tensor forward_and_loss(const Tensor& x, int step) {
    const auto made = net->forward(x);
    if (s.has_hook) made.register_hook([](const Tensor& gradient) { return gradient * 0.5; });
    if (s.fails > 0 && step % s.fails == s.fails - 1) throw std::runtime_error("a bad batch");
    auto loss = loss_of(s, made, target_of(s, x));
    if (s.second == Session::Second::kTeacher) {
      const NoGradGuard off;
      const auto wanted = other->forward(x);
      const AutoGradMode on(true);
      loss = loss + groove::mse_loss(made, wanted) * 0.1;
    }
    if (s.second == Session::Second::kAdversary)
      loss = loss - other->forward(x + made.mean()).mean() * 0.01;
    return s.accumulates > 1 ? loss / s.accumulates : loss;
  }

  // A fixed point, as implicit layers look for it.
  void solve(const Tensor& x) {
    const NoGradGuard off;
    auto z = groove::zeros({s.inputs}), target = x.mean(0).mean(0);
    for (int inner = 0; inner < 30; ++inner) {
      const auto next = z * 0.5 + target.tanh() * 0.5;
      const double moved = (next - z).abs().max().item<double>();
      z = next;
      if (moved < 1e-3) break;
    }
    solved = z;
  }

  void evaluate(int step) {
    net->eval();
    const NoGradGuard off;
    const auto x = groove::ones({4, s.length, s.inputs}) * 0.3;
    show("evaluated", step, net->forward(x).mean().item<double>());
    net->train();
  }

  void update(int step) {
    if (s.clips) nn::utils::clip_grad_norm_(net->parameters(), 1.0);
    if (s.prints_norm > 0 && step % s.prints_norm == 0) {
      double total = 0;
      for (const auto& p : net->parameters())
        if (p.grad().defined()) total += p.grad().norm().item<double>();
      show("norm", step, total);
    }
    first.now().step();
    if (s.second == Session::Second::kAdversary) {
      second.now().step();
      second.now().zero_grad();
    }
    if (s.second == Session::Second::kAverage) {
      const NoGradGuard off;
      const auto from = net->parameters();
      auto to = other->parameters();
      for (std::size_t i = 0; i < to.size(); ++i) to[i].mul_(0.99).add_(from[i], 0.01);
    }
    first.now().zero_grad();
  }

  void one_step(const Tensor& x, int step) {
    try {
      auto loss = forward_and_loss(x, step);
      loss.backward();
      if ((step + 1) % s.accumulates == 0) update(step);
      if (s.solves > 0) solve(x);
      if (s.reads_loss > 0 && step % s.reads_loss == 0) show("loss", step, loss.item<double>());
      if (s.keeps_best > 0 && step % s.keeps_best == 0) {
        const double now = loss.item<double>();
        if (now < best) {
          best = now;
          kept.clear();
          for (const auto& p : net->parameters()) kept.push_back(p.detach().clone());
        }
      }
    } catch (const std::runtime_error& error) {
      std::fprintf(log, "step %d: %s\n", step, error.what());
      first.now().zero_grad();
    }
  }

  void make() {
    manual_seed(s.seed);
    net = std::make_shared<Net>(s);
    first.make(s.optimizer, net->parameters(), 0.01);
    if (s.second == Session::Second::kNone) return;
    other = std::make_shared<Net>(s);
    second.make(s.optimizer + 1, other->parameters(), 0.01);
  }

  void run(int steps, void (*at_half)(void*), void* context) {
    make();
    Loader loader(s);
    int batches = 0;
    const auto make_batch = [&] { return loader.next(batches++); };
    // Random numbers of the library are drawn by one thread only.
    const bool has_thread = s.has_data_thread && s.data < Data::kMask && s.data != Data::kBlob;
    std::optional<DataThread> thread;
    if (has_thread) thread.emplace(make_batch);
    for (int step = 0; step < steps; ++step) {
      if (s.freezes_at > 0 && step == steps * s.freezes_at / 100)
        for (auto& p : net->layers->parameters()) p.requires_grad_(false);
      one_step(has_thread ? thread->next() : make_batch(), step);
      if (s.schedules > 0 && step % s.schedules == 0)
        first.now().param_groups()[0].options().set_lr(0.01 / (1 + 0.01 * step));
      if (s.evaluates > 0 && step % s.evaluates == s.evaluates - 1) evaluate(step);
      if (step + 1 == steps / 2) at_half(context);
    }
    for (const auto& p : net->parameters())
      std::fprintf(log, "%016llx\n", static_cast<unsigned long long>(hash_of(p, Site::current())));
    for (const auto& p : kept)
      std::fprintf(log, "kept %016llx\n",
                   static_cast<unsigned long long>(hash_of(p, Site::current())));
    if (solved.defined()) show("solved", steps, solved.sum().item<double>());
  }

  const Session& s;
  std::FILE* log;
  std::shared_ptr<Net> net, other;
  OptimizerPlace first, second;
  std::vector<Tensor> kept;
  double best = 1e300;
  Tensor solved;
};

}  // namespace

void run(const Session& session, int steps, std::FILE* log, void (*at_half)(void*), void* context) {
  Loop(session, log).run(steps, at_half, context);
}

}  // namespace groove::random_loops
