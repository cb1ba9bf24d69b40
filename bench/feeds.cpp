// Ways to bring data into a loop, each alone and beside a pointer that is kept from step to step,
// for a network of two layers, in pairs of fresh processes.
#include <groove/groove.h>

#include <array>
#include <functional>
#include <vector>

#include "bench/pairs/pairs.h"

namespace {

using groove::Tensor;

constexpr int kRows = 16, kColumns = 8, kCount = kRows * kColumns;

using Feed = std::function<Tensor(int)>;

// Numbers that differ in each step.
float drawn(int step, int i) { return static_cast<float>((step * 31 + i * 17) % 23) / 23 - 0.5f; }

void fill(float* memory, int step) {
  for (int i = 0; i < kCount; ++i) memory[i] = drawn(step, i);
}

Tensor pointer_into_empty(int step) {
  Tensor x = groove::empty({kRows, kColumns});
  fill(x.data_ptr<float>(), step);
  return x;
}

Tensor pointer_into_zeros(int step) {
  Tensor x = groove::zeros({kRows, kColumns});
  fill(x.data_ptr<float>(), step);
  return x;
}

Tensor accessor(int step) {
  Tensor x = groove::zeros({kRows, kColumns});
  auto rows = x.accessor<float, 2>();
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) rows[i][j] = drawn(step, i * kColumns + j);
  return x;
}

std::array<float, kCount> blob_memory;

Tensor blob(int step) {
  fill(blob_memory.data(), step);
  return groove::from_blob(blob_memory.data(), {kRows, kColumns});
}

Tensor copy_of_blob(int step) { return blob(step).clone(); }

Tensor tensor_of_vector(int step) {
  std::vector<float> values(kCount);
  fill(values.data(), step);
  return groove::tensor(values).view({kRows, kColumns});
}

Tensor rows_one_by_one(int step) {
  Tensor x = groove::zeros({kRows, kColumns});
  for (int i = 0; i < kRows; ++i) x[i] = groove::full({kColumns}, drawn(step, i));
  return x;
}

Tensor stack_of_rows(int step) {
  std::vector<Tensor> rows;
  for (int i = 0; i < kRows; ++i) rows.push_back(groove::full({kColumns}, drawn(step, i)));
  return groove::stack(rows);
}

Tensor elements_one_by_one(int step) {
  Tensor x = groove::zeros({kRows, kColumns});
  for (int i = 0; i < kRows; ++i)
    for (int j = 0; j < kColumns; ++j) x[i][j] = drawn(step, i * kColumns + j);
  return x;
}

Tensor rows_by_mask(int) {
  const Tensor all = groove::randn({2 * kRows, kColumns});
  return all.index({all.select(1, 0) > 0});
}

// The first element of what the last step brought is changed through a pointer, and read.
Feed with_kept_pointer(const Feed& feed) {
  struct Kept {
    Tensor tensor;
    float* first = nullptr;
  };
  return [feed, kept = Kept()](int step) mutable {
    Tensor x = feed(step);
    if (kept.first) {
      *kept.first += 0.5f;
      x = x + kept.tensor.sum() * 0.125;
    }
    kept.tensor = x;
    kept.first = x.data_ptr<float>();
    return x;
  };
}

pairs::Step train(const Feed& feed) {
  auto net = pairs::network(kColumns, 32, 1);
  return pairs::learn(net->parameters(), [net, feed](int step) mutable {
    const Tensor x = feed(step);
    return groove::nn::functional::mse_loss(net->forward(x), x.sum(1, true));
  });
}

std::vector<pairs::Loop> loops() {
  struct Way {
    const char* name;
    Tensor (*feed)(int);
  };
  const Way ways[] = {{"pointer into empty", pointer_into_empty},
                      {"pointer into zeros", pointer_into_zeros},
                      {"accessor", accessor},
                      {"from_blob", blob},
                      {"from_blob, cloned", copy_of_blob},
                      {"tensor of a vector", tensor_of_vector},
                      {"rows one by one", rows_one_by_one},
                      {"stack of rows", stack_of_rows},
                      {"elements one by one", elements_one_by_one},
                      {"rows by a mask", rows_by_mask}};
  std::vector<pairs::Loop> all;
  for (const Way& way : ways) {
    all.push_back({way.name, [way] { return train(way.feed); }});
    all.push_back({way.name + std::string(", pointer kept"),
                   [way] { return train(with_kept_pointer(way.feed)); }});
  }
  return all;
}

}  // namespace

int main(int count, char** words) {
  CLI::App app("Ways to bring data into a loop, automatic mode against eager mode");
  const pairs::Pairs in_pairs(app);
  CLI11_PARSE(app, count, words);
  return in_pairs.compare(loops()) ? 0 : 1;
}
