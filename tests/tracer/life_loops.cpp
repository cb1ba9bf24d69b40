// Loops whose inputs do not live as long as a run that has read them, or become others between two
// runs: replays have no references to what the program keeps alive, and do not check again what is
// as it was.
#include <groove/groove.h>

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "tests/tracer/loop_log.h"
#include "tests/tracer/loops.h"

namespace groove::testing {
namespace {

// Real at once, with no call of a loop for it.
Tensor fresh(std::int64_t count, int seed) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(0.25f * static_cast<float>((seed * 7 + i * 3) % 11) - 1.0f);
  return groove::tensor(values);
}

// The memory of what is dropped would be that of what is made next.
void dropped_while_waiting(int steps, Log& log) {
  const Tensor weight = fresh(5, 1);
  for (int step = 0; step < steps; ++step) {
    Tensor x = fresh(5, step);
    Tensor sum = x * weight;
    x = fresh(5, step + 100);
    const Tensor other = fresh(5, step + 200);
    sum = sum + x;
    x = Tensor();
    const Tensor third = fresh(5, step + 300);
    log.number(sum.sum().item<double>());
    log.number(other[2].item<double>() + third[3].item<double>());
  }
}

// Many, in the order in which they were used and in the reverse.
void all_dropped_while_waiting(int steps, Log& log) {
  for (int step = 0; step < steps; ++step) {
    std::vector<Tensor> all;
    for (int i = 0; i < 12; ++i) all.push_back(fresh(3, step + i));
    Tensor sum = all[0] * 0.5;
    for (const Tensor& tensor : all) sum = sum * 0.75 + tensor;
    if (step % 2 == 0) {
      all.clear();
    } else {
      while (!all.empty()) all.pop_back();
    }
    std::vector<Tensor> next;
    for (int i = 0; i < 12; ++i) next.push_back(fresh(3, step - i + 50));
    log.tensor(sum);
  }
}

// Another thread has the last reference, and lets it go while the run waits.
void dropped_by_another_thread(int steps, Log& log) {
  const Tensor weight = fresh(6, 3);
  for (int step = 0; step < steps; ++step) {
    Tensor x = fresh(6, step);
    Tensor product = x * weight;
    std::thread([last = std::move(x)]() mutable { last = Tensor(); }).join();
    std::vector<Tensor> next;
    for (int i = 0; i < 8; ++i) next.push_back(fresh(6, step + i + 70));
    log.number((product + weight).sum().item<double>());
  }
}

// A tensor of another size, then of another dtype, at the same place in memory.
void others_at_the_same_place(int steps, Log& log) {
  for (int step = 0; step < steps; ++step) {
    Tensor x = step % 3 == 2 ? fresh(4, step).view({2, 2}) : fresh(step % 5 == 4 ? 3 : 4, step);
    if (step % 7 == 6) x = x.to(kDouble);
    const Tensor twice = x + x;
    log.number((twice * x).sum().item<double>());
    log.integer(twice.dim() * 100 + twice.numel());
  }
}

// What a run has kept is let go of with it.
void let_go_in_time(int steps, Log& log) {
  const Tensor weight = fresh(4, 2);
  float memory[4] = {1, 2, 3, 4};
  int ended = 0;
  for (int step = 0; step < steps; ++step) {
    memory[step % 4] += 0.5f;
    Tensor x = groove::from_blob(memory, {4}, [&ended](void*) { ++ended; });
    Tensor product = x * weight;
    x = Tensor();
    log.number((product + 1).sum().item<double>());
    log.integer(ended);
  }
}

// The same tensor, which has become another.
void changed_between_runs(int steps, Log& log) {
  Tensor x = fresh(4, 1), weight = fresh(4, 2);
  for (int step = 0; step < steps; ++step) {
    switch (step % 12) {
      case 3:
        x.set_data(fresh(6, step));
        break;
      case 4:
        x.set_data(fresh(4, step));
        break;
      case 6:
        x.unsqueeze_(0);
        break;
      case 7:
        x.squeeze_(0);
        break;
      case 9:
        x.requires_grad_();
        break;
      case 10:
        x.requires_grad_(false);
        break;
      case 11:
        *x.data_ptr<float>() += 1;
        break;
      default:
        break;
    }
    for (int use = 0; use < 4; ++use) {
      const Tensor first = step % 12 == 3 ? x * 2 : x * weight;
      const Tensor product = first * 0.5 + x - first * x + 1;
      log.number(product.sum().item<double>());
      log.integer(product.requires_grad());
      log.integer(product.dim());
    }
  }
}

// It was a leaf, or no part of a history at all.
void joins_a_history(int steps, Log& log) {
  const Tensor weight = fresh(4, 2).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    Tensor x = fresh(4, step);
    const int uses = step % 4 == 3 ? 2 : 1;
    for (int use = 0; use < uses; ++use) {
      const Tensor product = x * 3 + 1;
      log.number(product.sum().item<double>());
      log.integer(product.requires_grad());
      if (use + 1 < uses) x.mul_(weight);
    }
  }
}

// One tensor where there were two, and two where there was one.
void one_for_two(int steps, Log& log) {
  const Tensor a = fresh(4, 1), b = fresh(4, 2);
  for (int step = 0; step < steps; ++step) {
    const Tensor& second = step % 4 == 3 ? a : b;
    log.number((a * 2 + second).sum().item<double>());
    Tensor written = a + 0;
    written.add_(step % 5 == 4 ? written : second);
    log.tensor(written);
  }
}

// What a run gives is the next one's input, let go of before it is given again.
void carried_over(int steps, Log& log) {
  const Tensor weight = fresh(4, 2);
  Tensor state = fresh(4, 1);
  for (int step = 0; step < steps; ++step) {
    Tensor next = state * weight;
    state = Tensor();
    next = next + 0.5;
    next = groove::tanh(next);
    state = next;
    log.number(state.sum().item<double>());
  }
}

// Other loops, which begin when the one around them has run for a while: they are recorded with
// what it gives as their input.
void record_with(const Tensor& input, int step, Log& log) {
  for (int turn = 0; turn < 6 && step == 7; ++turn)
    log.number((groove::exp(input) * 2.0 + 0.5).sum().item<double>());
  for (int turn = 0; turn < 6 && step == 10; ++turn)
    log.number((groove::sin(input) + input * 0.5).sum().item<double>());
}

// … and was the input of a recording since.
void carry_past_a_recording(int steps, std::int64_t count, bool is_left, Log& log) {
  const Tensor weight = fresh(count, 2);
  Tensor state = fresh(count, 1);
  for (int step = 0; step < steps; ++step) {
    record_with(state, step, log);
    Tensor next = state.flip({0});
    state = Tensor();
    next = next * weight + 0.5;
    state = groove::tanh(next);
    if (is_left) next = step == 7 ? state.neg() : step == 10 ? state.exp() : state * 2.0;
    log.number((is_left ? next : state).sum().item<double>());
  }
}

void carried_past_a_recording(int steps, Log& log) {
  carry_past_a_recording(steps, 3000, false, log);
}

// The run that lets go of it is left after it was given again.
void carried_past_a_recording_and_left(int steps, Log& log) {
  carry_past_a_recording(steps, 6, true, log);
}

// A thread that does one thing after the other, each while its owner waits.
class Worker {
 public:
  ~Worker() {
    run(nullptr);
    thread_.join();
  }
  void run(std::function<void()> work) {
    std::unique_lock lock(mutex_);
    work_ = std::move(work);
    is_given_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !is_given_; });
  }

 private:
  void work_on() {
    for (bool is_last = false; !is_last;) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_given_; });
      is_last = !work_;
      if (work_) work_();
      is_given_ = false;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> work_;
  bool is_given_ = false;
  std::thread thread_{[this] { work_on(); }};
};

// Another thread gives it again while the run that has read it waits.
void given_by_another_thread(int steps, Log& log) {
  const Tensor weight = fresh(3000, 2);
  Tensor given = fresh(3000, 1);
  Worker worker;
  for (int step = 0; step < steps; ++step) {
    record_with(given, step, log);
    const Tensor turned = given.flip({0}) * weight;
    given = Tensor();
    worker.run([&] {
      given = groove::tanh(weight * (0.5 + step)) + 0.25;
      log.number(given.sum().item<double>());
    });
    log.number(turned.sum().item<double>());
  }
}

// A gradient, of which zero_grad() lets go before it is made again.
void gradient_past_a_recording(int steps, Log& log) {
  const Tensor weight = fresh(3000, 2).requires_grad_();
  optim::SGD optimizer({weight}, optim::SGDOptions(0.05));
  weight.mutable_grad() = fresh(3000, 4);
  for (int step = 0; step < steps; ++step) {
    record_with(weight.grad(), step, log);
    const Tensor turned = weight.grad().flip({0});
    optimizer.zero_grad();
    const Tensor loss = (weight * turned + 0.5).square().mean() + weight.sin().sum();
    loss.backward();
    optimizer.step();
    log.number(loss.item<double>());
  }
  log.parameter(weight);
}

// Long enough for a recording to let go of what nobody holds.
Tensor far_on(Tensor state) {
  for (int i = 0; i < 24; ++i) state = groove::tanh(state * 1.25) + 0.125;
  return state;
}

// A view is all that is left of a result when it is written, and looked at.
void views_outlive_bases(int steps, Log& log) {
  const Tensor weight = fresh(6, 2);
  for (int step = 0; step < steps; ++step) {
    Tensor base = (weight * (1 + step)).view({2, 3});
    const Tensor row = base[1];
    const Tensor part = row.narrow(0, 1, 2);
    base = Tensor();
    const Tensor far = far_on(weight);
    part.mul_(0.5);
    row.add_(far.narrow(0, 0, 3));
    log.tensor(row);
    log.tensor(part);
  }
}

// … with a gradient history, which is followed.
void views_with_a_history(int steps, Log& log) {
  const Tensor weight = fresh(6, 2).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    Tensor base = (weight * (1 + step)).view({2, 3}) * 1.0;
    const Tensor row = base[1];
    base = Tensor();
    const Tensor far = far_on(weight.detach());
    row.add_(far.narrow(0, 0, 3) * weight.narrow(0, 3, 3));
    const Tensor loss = (row * row).sum();
    if (step % 3 == 0) log.number(loss.item<double>());
    loss.backward();
    log.tensor(row.detach());
  }
  log.parameter(weight);
}

// Nobody held them in the first iterations.
void held_from_some_time_on(int steps, Log& log) {
  const Tensor weight = fresh(4, 5);
  std::vector<Tensor> held;
  for (int step = 0; step < steps; ++step) {
    Tensor early = weight * (1 + step);
    const Tensor late = far_on(early + 0.5);
    if (step > steps / 2) held.push_back(early);
    early = Tensor();
    log.number(far_on(late).sum().item<double>());
  }
  for (const Tensor& each : held) log.tensor(each);
}

// What is saved for the backward alone goes in it; a second one goes there again.
void saved_for_two_backwards(int steps, Log& log) {
  const Tensor weight = fresh(4, 3).requires_grad_();
  for (int step = 0; step < steps; ++step) {
    Tensor loss = far_on(weight * 0.5).sum();
    loss.backward({}, true);
    const Tensor other = far_on(weight.detach());
    loss = loss * other.sum();
    loss.backward();
    log.number(loss.item<double>());
    log.tensor(weight.grad());
    weight.mutable_grad() = Tensor();
  }
}

}  // namespace

const std::vector<Loop>& life_loops() {
  static const std::vector<Loop>& all = *new std::vector<Loop>{
      {"DroppedWhileWaiting", dropped_while_waiting},
      {"AllDroppedWhileWaiting", all_dropped_while_waiting},
      {"DroppedByAnotherThread", dropped_by_another_thread},
      {"OthersAtTheSamePlace", others_at_the_same_place},
      {"LetGoInTime", let_go_in_time},
      {"ChangedBetweenRuns", changed_between_runs},
      {"JoinsAHistory", joins_a_history},
      {"OneForTwo", one_for_two},
      {"CarriedOver", carried_over},
      {"CarriedPastARecording", carried_past_a_recording},
      {"CarriedPastARecordingAndLeft", carried_past_a_recording_and_left},
      {"GivenByAnotherThread", given_by_another_thread},
      {"GradientPastARecording", gradient_past_a_recording},
      {"ViewsOutliveBases", views_outlive_bases},
      {"ViewsWithAHistory", views_with_a_history},
      {"HeldFromSomeTimeOn", held_from_some_time_on},
      {"SavedForTwoBackwards", saved_for_two_backwards},
  };
  return all;
}

}  // namespace groove::testing
