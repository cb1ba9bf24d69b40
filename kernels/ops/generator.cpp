// Generators, and the functions and methods that take one.
#include "groove/generator.h"

#include <cstring>
#include <mutex>
#include <random>

#include "groove/factories.h"
#include "groove/ops/creation.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

constinit thread_local DrawsFrom* open_scope = nullptr;

}  // namespace

struct Generator::Own {
  std::mutex mutex;
  RandomState state;
};

Generator::Generator(std::uint64_t seed) : own_(std::make_shared<Own>()) {
  own_->state.seed = seed;
}

Generator Generator::of_process() {
  Generator result;
  result.is_process_ = true;
  return result;
}

RandomState Generator::state() const {
  if (is_process_) return get_random_state();
  GROOVE_CHECK(own_, "Generator: it is undefined; make one with a seed");
  const std::lock_guard lock(own_->mutex);
  return own_->state;
}

void Generator::set(const RandomState& state) const {
  if (is_process_) return set_random_state(state);
  GROOVE_CHECK(own_, "Generator: it is undefined; make one with a seed");
  const std::lock_guard lock(own_->mutex);
  own_->state = state;
}

void Generator::set_current_seed(std::uint64_t seed) const { set({seed, 0}); }

std::uint64_t Generator::seed() const {
  std::random_device device;
  const std::uint64_t high = device(), seed = high << 32 | device();
  set_current_seed(seed);
  return seed;
}

Tensor Generator::get_state() const {
  const RandomState now = state();
  const std::uint64_t words[] = {now.seed, now.draws};
  const Tensor bytes = empty({sizeof words}, kByte);
  std::memcpy(bytes.data_ptr(), words, sizeof words);
  return bytes;
}

void Generator::set_state(const Tensor& state) const {
  std::uint64_t words[2];
  GROOVE_CHECK(checked("set_state", state).dtype == kByte && state.numel() == sizeof words,
               "Generator: a state is {} bytes of get_state(), not {} {}", sizeof words,
               name(type_of(state).dtype), to_string(type_of(state).sizes));
  const Tensor bytes = state.contiguous();
  std::memcpy(words, bytes.const_data_ptr(), sizeof words);
  set({words[0], words[1]});
}

Generator Generator::clone() const {
  const RandomState now = state();
  Generator result(now.seed);
  result.set(now);
  return result;
}

DrawsFrom::DrawsFrom(const std::optional<Generator>& generator) : previous_(open_scope) {
  if (generator) generator_ = generator->own_;
  open_scope = this;
}
DrawsFrom::~DrawsFrom() { open_scope = previous_; }

std::optional<RandomState> DrawsFrom::next() {
  if (!open_scope || !open_scope->generator_) return {};
  Generator::Own& own = *open_scope->generator_;
  const std::lock_guard lock(own.mutex);
  const RandomState now = own.state;
  ++own.state.draws;
  return now;
}

// ---- what draws, from a generator ----

using MaybeGenerator = std::optional<Generator>;

Tensor rand(IntArrayRef size, const MaybeGenerator& generator, TensorOptions options, Site site) {
  const DrawsFrom scope(generator);
  return rand(size, options, site);
}
Tensor randn(IntArrayRef size, const MaybeGenerator& generator, TensorOptions options, Site site) {
  const DrawsFrom scope(generator);
  return randn(size, options, site);
}
Tensor normal(Arg mean, double std, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return normal(mean, std);
}
Tensor normal(double mean, Arg std, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return normal(mean, std);
}
Tensor normal(Arg mean, const Tensor& std, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return normal(mean, std);
}
Tensor randint(std::int64_t high, IntArrayRef size, const MaybeGenerator& generator,
               TensorOptions options, Site site) {
  const DrawsFrom scope(generator);
  return randint(high, size, options, site);
}
Tensor randint(std::int64_t low, std::int64_t high, IntArrayRef size,
               const MaybeGenerator& generator, TensorOptions options, Site site) {
  const DrawsFrom scope(generator);
  return randint(low, high, size, options, site);
}
Tensor randperm(std::int64_t n, const MaybeGenerator& generator, TensorOptions options, Site site) {
  const DrawsFrom scope(generator);
  return randperm(n, options, site);
}
Tensor bernoulli(Arg self, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return bernoulli(self);
}
Tensor bernoulli(Arg self, double p, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return bernoulli(self, p);
}
Tensor multinomial(Arg self, std::int64_t num_samples, bool replacement,
                   const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return multinomial(self, num_samples, replacement);
}
Tensor poisson(Arg self, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return poisson(self);
}
Tensor binomial(Arg count, const Tensor& prob, const MaybeGenerator& generator) {
  const DrawsFrom scope(generator);
  return binomial(count, prob);
}

Tensor& MathMethods::uniform_(double from, double to, const MaybeGenerator& generator,
                              Site site) const {
  const DrawsFrom scope(generator);
  return uniform_(from, to, site);
}
Tensor& MathMethods::normal_(double mean, double std, const MaybeGenerator& generator,
                             Site site) const {
  const DrawsFrom scope(generator);
  return normal_(mean, std, site);
}
Tensor& MathMethods::random_(const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return random_(site);
}
Tensor& MathMethods::random_(std::int64_t to, const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return random_(to, site);
}
Tensor& MathMethods::random_(std::int64_t from, std::optional<std::int64_t> to,
                             const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return random_(from, to, site);
}
Tensor& MathMethods::bernoulli_(double p, const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return bernoulli_(p, site);
}
Tensor& MathMethods::bernoulli_(const Tensor& p, const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return bernoulli_(p, site);
}
Tensor& ElementwiseMethods::exponential_(double lambd, const MaybeGenerator& generator,
                                         Site site) const {
  const DrawsFrom scope(generator);
  return exponential_(lambd, site);
}
Tensor& ElementwiseMethods::log_normal_(double mean, double std, const MaybeGenerator& generator,
                                        Site site) const {
  const DrawsFrom scope(generator);
  return log_normal_(mean, std, site);
}
Tensor& ElementwiseMethods::cauchy_(double median, double sigma, const MaybeGenerator& generator,
                                    Site site) const {
  const DrawsFrom scope(generator);
  return cauchy_(median, sigma, site);
}
Tensor& ElementwiseMethods::geometric_(double p, const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return geometric_(p, site);
}
Tensor IndexMethods::bernoulli(const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return bernoulli(site);
}
Tensor IndexMethods::bernoulli(double p, const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return bernoulli(p, site);
}
Tensor IndexMethods::multinomial(std::int64_t num_samples, bool replacement,
                                 const MaybeGenerator& generator, Site site) const {
  const DrawsFrom scope(generator);
  return multinomial(num_samples, replacement, site);
}

}  // namespace groove
