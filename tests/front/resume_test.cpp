// A run that is stopped at any step and goes on from its checkpoint makes the same bits as one that
// is not; a checkpoint survives a process that is killed while it writes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
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

struct Points : data::datasets::Dataset<Points> {
  // Noise of its own: drawn where the batch is fetched.
  data::Example<> get(std::size_t i) override {
    const auto x = static_cast<double>(i) / 50;
    return {tensor({x, x * x, 1.}) + randn({3}) * 0.01, tensor({x - 0.3})};
  }
  std::optional<std::size_t> size() const override { return 50; }
};

struct NetImpl : nn::Module {
  NetImpl() {
    one = register_module("one", nn::Linear(3, 16));
    drop = register_module("drop", nn::Dropout(0.3));
    two = register_module("two", nn::Linear(16, 1));
  }
  Tensor forward(const Tensor& x) { return two(drop(tanh(one(x)))); }
  nn::Linear one{nullptr}, two{nullptr};
  nn::Dropout drop{nullptr};
};
GROOVE_MODULE(Net);

constexpr int kEpochs = 4;
constexpr std::int64_t kNever = -1;

// All that a run is made of.
struct Training {
  explicit Training(std::size_t workers)
      : loader(data::make_data_loader(Points().map(data::transforms::Stack<>()),
                                      data::DataLoaderOptions().batch_size(8).workers(workers))),
        adam(net->parameters(), optim::AdamOptions(0.01).weight_decay(0.01)) {}

  void save(const std::string& path) {
    serialize::OutputArchive archive, model, optimizer, position;
    net->save(model);
    adam.save(optimizer);
    loader->save(position);
    archive.write("model", model);
    archive.write("optimizer", optimizer);
    archive.write("loader", position);
    archive.write("random", get_random_state());
    archive.write("step", step);
    archive.write("epoch", epoch);
    archive.save_to(path);
  }
  void load(const std::string& path) {
    serialize::InputArchive archive, nested;
    archive.load_from(path);
    archive.read("model", nested);
    net->load(nested);
    archive.read("optimizer", nested);
    adam.load(nested);
    archive.read("loader", nested);
    loader->load(nested);
    RandomState random;
    archive.read("random", random);
    set_random_state(random);
    IValue value;
    archive.read("step", value);
    step = value.toInt();
    archive.read("epoch", value);
    epoch = value.toInt();
  }
  // To the end, or with a checkpoint after step `stop`.
  void train(std::int64_t stop, const std::string& path) {
    for (; epoch < kEpochs; ++epoch)
      for (auto& batch : *loader) {
        adam.zero_grad();
        mse_loss(net(batch.data), batch.target).backward();
        adam.step();
        if (++step == stop) return save(path);
      }
  }
  std::vector<Tensor> result() {
    std::vector<Tensor> all = net->parameters();
    all.push_back(rand({4}));  // and the random state at the end
    return all;
  }

  Net net;
  std::unique_ptr<data::StatelessDataLoader<
      data::datasets::MapDataset<Points, data::transforms::Stack<>>, data::samplers::RandomSampler>>
      loader;
  optim::Adam adam;
  std::int64_t step = 0, epoch = 0;
};

TEST(Resume, TheSameBitsAsNeverStopping) {
  const TemporaryFolder folder;
  manual_seed(3);
  Training whole(0);
  const RandomState start = get_random_state();
  serialize::OutputArchive initial;
  whole.net->save(initial);
  initial.save_to(folder / "initial");
  whole.train(kNever, "");
  const std::vector<Tensor> expected = whole.result();
  ASSERT_EQ(whole.step, 28);
  for (std::int64_t stop = 1; stop <= 28; ++stop) {
    if (stop % 4 == 2) continue;  // 21 of them
    {
      Training first(stop % 3 == 0 ? 2 : 0);
      groove::load(first.net, folder / "initial");
      set_random_state(start);
      first.train(stop, folder / "checkpoint");
    }
    manual_seed(static_cast<std::uint64_t>(stop));  // the process that goes on is another
    Training second(stop % 2 == 0 ? 3 : 0);
    second.load(folder / "checkpoint");
    EXPECT_EQ(second.step, stop);
    second.train(kNever, "");
    const std::vector<Tensor> actual = second.result();
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_TRUE(same_bits(expected[i], actual[i])) << "tensor " << i << ", stopped at " << stop;
  }
}

// The child must not share the threads of this process: it is this program anew.
TEST(Resume, DISABLED_SavesForEver) {
  const char* const path = std::getenv("FRONT_TEST_CHECKPOINT");
  const char* const first = std::getenv("FRONT_TEST_FIRST");
  const char* const told = std::getenv("FRONT_TEST_TOLD");
  ASSERT_TRUE(path && first && told);
  for (std::int64_t i = std::atoll(first);; ++i) {
    save(full({1 << 16}, i, kLong), path);
    ASSERT_EQ(::write(std::atoi(told), "s", 1), 1);
  }
}

TEST(Resume, AKilledProcessLeavesAFileThatLoads) {
  const TemporaryFolder folder;
  const std::string path = folder / "checkpoint";
  save(full({1 << 16}, 0, kLong), path);
  std::mt19937 random(1);
  std::int64_t newest = 0;
  for (int i = 1; i <= 200; ++i) {
    // Through which the child tells of each save.
    int told[2];
    ASSERT_EQ(::pipe(told), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::setenv("FRONT_TEST_CHECKPOINT", path.c_str(), 1);
      ::setenv("FRONT_TEST_FIRST", std::to_string(i * 1'000'000).c_str(), 1);
      ::setenv("FRONT_TEST_TOLD", std::to_string(told[1]).c_str(), 1);
      ::freopen("/dev/null", "w", stdout);
      ::execl("/proc/self/exe", "front_test", "--gtest_also_run_disabled_tests",
              "--gtest_filter=Resume.DISABLED_SavesForEver", nullptr);
      ::_exit(1);
    }
    ::close(told[1]);
    char byte;
    ASSERT_EQ(::read(told[0], &byte, 1), 1) << "the child saves nothing";
    // Anywhere within a later save, or between two.
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 20000));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    ::close(told[0]);
    Tensor loaded;
    load(loaded, path);
    const auto* const values = loaded.const_data_ptr<std::int64_t>();
    const std::int64_t first = values[0];
    for (std::int64_t k = 0; k < loaded.numel(); ++k) ASSERT_EQ(values[k], first);
    ASSERT_GT(first, newest);
    newest = first;
  }
  EXPECT_LE(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
}

}  // namespace
}  // namespace groove
