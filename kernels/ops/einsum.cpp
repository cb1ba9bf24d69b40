// einsum: letters become axes, operands are multiplied in pairs by bmm, and what no later pair
// needs is summed over as soon as it stands in one operand only.
#include <algorithm>
#include <array>

#include "groove/ops/contractions.h"
#include "groove/ops/products.h"
#include "groove/ops/views.h"
#include "kernels/ops/rules.h"

namespace groove {
namespace {

// An axis's name: a letter, or a negative number for an axis of "...", counted from its end.
using Label = int;
using Labels = std::vector<Label>;
constexpr Label kDots = 0;  // in a subscript that is not yet spread out

struct Operand {
  Tensor tensor;
  Labels labels;
};

bool has(const Labels& labels, Label label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}
std::size_t place_of(const Labels& labels, Label label) {
  return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
}

Labels subscript(std::string_view text) {
  Labels labels;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ' ') continue;
    if (c == '.') {
      GROOVE_CHECK(text.substr(i, 3) == "..." && !has(labels, kDots),
                   "einsum: \"{}\" must hold one \"...\" at most", text);
      labels.push_back(kDots);
      i += 2;
      continue;
    }
    GROOVE_CHECK((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'),
                 "einsum: '{}' in \"{}\" is no letter", c, text);
    labels.push_back(c);
  }
  return labels;
}

std::vector<Labels> subscripts(std::string_view text) {
  std::vector<Labels> result;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(',', begin);
    result.push_back(subscript(text.substr(begin, end - begin)));
    if (end == std::string_view::npos) return result;
    begin = end + 1;
  }
}

// "..." replaced by as many axes as are left of `rank`.
Labels spread(const Labels& labels, std::size_t rank) {
  const bool has_dots = has(labels, kDots);
  const std::size_t named = labels.size() - (has_dots ? 1 : 0);
  GROOVE_CHECK(has_dots ? named <= rank : named == rank,
               "einsum: a subscript of {} letters{} for an operand of {} axes", named,
               has_dots ? " and \"...\"" : "", rank);
  Labels result;
  for (const Label label : labels) {
    if (label != kDots) result.push_back(label);
    for (std::size_t left = rank - named; label == kDots && left > 0; --left)
      result.push_back(-static_cast<Label>(left));
  }
  return result;
}

// A letter that an operand has twice: the diagonal of both axes, which comes last.
void take_diagonals(Operand& operand) {
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    for (std::size_t j = i + 1; j < operand.labels.size(); ++j) {
      if (operand.labels[i] != operand.labels[j]) continue;
      const Shape& sizes = type_of(operand.tensor).sizes;
      GROOVE_CHECK(sizes[i] == sizes[j], "einsum: '{}' names axes of sizes {} and {} in {}",
                   static_cast<char>(operand.labels[i]), sizes[i], sizes[j], to_string(sizes));
      operand.tensor =
          diagonal(operand.tensor, 0, static_cast<std::int64_t>(i), static_cast<std::int64_t>(j));
      const Label label = operand.labels[i];
      operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(j));
      operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(i));
      operand.labels.push_back(label);
      return take_diagonals(operand);
    }
  }
}

void sum_over(Operand& operand, const Labels& kept) {
  Shape axes;
  Labels left;
  for (std::size_t i = 0; i < operand.labels.size(); ++i) {
    if (has(kept, operand.labels[i]))
      left.push_back(operand.labels[i]);
    else
      axes.push_back(static_cast<std::int64_t>(i));
  }
  if (axes.empty()) return;
  operand.tensor = sum(operand.tensor, axes);
  operand.labels = left;
}

struct Sizes {
  std::array<std::int64_t, 256> of_letters;
  std::vector<std::int64_t> of_dots;
  std::int64_t& at(Label label) {
    if (label > 0) return of_letters[static_cast<std::size_t>(label)];
    const auto place = static_cast<std::size_t>(-label - 1);
    if (of_dots.size() <= place) of_dots.resize(place + 1, 1);
    return of_dots[place];
  }
};

// Axes of size 1 that are longer in another operand go: multiplication broadcasts them.
void note_sizes(const std::vector<Operand>& operands, Sizes& sizes) {
  sizes.of_letters.fill(1);
  for (const Operand& operand : operands) {
    const Shape& own = type_of(operand.tensor).sizes;
    for (std::size_t i = 0; i < own.size(); ++i) {
      std::int64_t& size = sizes.at(operand.labels[i]);
      GROOVE_CHECK(size == 1 || own[i] == 1 || size == own[i],
                   "einsum: an axis of size {} in {} is of size {} in another operand", own[i],
                   to_string(own), size);
      if (size == 1) size = own[i];
    }
  }
}
void drop_broadcast(Operand& operand, Sizes& sizes) {
  for (std::size_t i = operand.labels.size(); i-- > 0;) {
    if (operand.tensor.size(static_cast<std::int64_t>(i)) == sizes.at(operand.labels[i])) continue;
    operand.tensor = squeeze(operand.tensor, static_cast<std::int64_t>(i));
    operand.labels.erase(operand.labels.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Tensor arranged(const Operand& operand, std::initializer_list<const Labels*> groups) {
  Shape order;
  for (const Labels* group : groups)
    for (const Label label : *group)
      order.push_back(static_cast<std::int64_t>(place_of(operand.labels, label)));
  return permute(operand.tensor, order);
}

Operand multiplied(Operand a, Operand b, const Labels& kept, Sizes& sizes) {
  Labels a_kept = kept, b_kept = kept;
  a_kept.insert(a_kept.end(), b.labels.begin(), b.labels.end());
  b_kept.insert(b_kept.end(), a.labels.begin(), a.labels.end());
  sum_over(a, a_kept);
  sum_over(b, b_kept);
  Labels batch, inside, left, right;
  for (const Label label : a.labels)
    (!has(b.labels, label) ? left : has(kept, label) ? batch : inside).push_back(label);
  for (const Label label : b.labels)
    if (!has(a.labels, label)) right.push_back(label);
  const auto extent = [&sizes](const Labels& labels, Shape* into = nullptr) {
    std::int64_t count = 1;
    for (const Label label : labels) {
      count *= sizes.at(label);
      if (into) into->push_back(sizes.at(label));
    }
    return count;
  };
  Operand result;
  Shape shape;
  for (const Labels* group : {&batch, &left, &right}) {
    extent(*group, &shape);
    result.labels.insert(result.labels.end(), group->begin(), group->end());
  }
  Tensor x = arranged(a, {&batch, &left, &inside}), y = arranged(b, {&batch, &inside, &right});
  if (inside.empty()) {
    Shape wide;
    extent(batch, &wide);
    extent(left, &wide);
    for (std::size_t i = 0; i < right.size(); ++i) wide.push_back(1);
    Shape narrow_side;
    extent(batch, &narrow_side);
    for (std::size_t i = 0; i < left.size(); ++i) narrow_side.push_back(1);
    extent(right, &narrow_side);
    result.tensor = mul(reshape(x, wide), reshape(y, narrow_side));
    return result;
  }
  const std::int64_t count = extent(batch), rows = extent(left), sums = extent(inside),
                     columns = extent(right);
  if (batch.empty())
    result.tensor = mm(reshape(x, {rows, sums}), reshape(y, {sums, columns}));
  else
    result.tensor = bmm(reshape(x, {count, rows, sums}), reshape(y, {count, sums, columns}));
  result.tensor = reshape(result.tensor, shape);
  return result;
}

// What others and the result still need.
Labels needed(const std::vector<Operand>& operands, std::size_t i, std::size_t j,
              const Labels& output) {
  Labels result = output;
  for (std::size_t k = 0; k < operands.size(); ++k)
    if (k != i && k != j)
      result.insert(result.end(), operands[k].labels.begin(), operands[k].labels.end());
  return result;
}

double extent_of(const Labels& labels, Sizes& sizes) {
  double count = 1;
  for (const Label label : labels) count *= static_cast<double>(sizes.at(label));
  return count;
}

std::pair<std::size_t, std::size_t> smallest_pair(const std::vector<Operand>& operands,
                                                  const Labels& output, Sizes& sizes) {
  std::pair<std::size_t, std::size_t> best{0, 1};
  double least = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    for (std::size_t j = i + 1; j < operands.size(); ++j) {
      const Labels kept = needed(operands, i, j, output);
      Labels left;
      for (const Operand* operand : {&operands[i], &operands[j]})
        for (const Label label : operand->labels)
          if (has(kept, label) && !has(left, label)) left.push_back(label);
      const double growth = extent_of(left, sizes) - extent_of(operands[i].labels, sizes) -
                            extent_of(operands[j].labels, sizes);
      if ((i == 0 && j == 1) || growth < least) {
        least = growth;
        best = {i, j};
      }
    }
  }
  return best;
}

Labels result_labels(const std::vector<Operand>& operands, Sizes& sizes) {
  Labels result;
  for (std::size_t left = sizes.of_dots.size(); left > 0; --left)
    result.push_back(-static_cast<Label>(left));
  for (Label letter = 'A'; letter <= 'z'; ++letter) {
    std::ptrdiff_t count = 0;
    for (const Operand& operand : operands)
      count += std::count(operand.labels.begin(), operand.labels.end(), letter);
    if (count == 1) result.push_back(letter);
  }
  return result;
}

}  // namespace

Tensor einsum(std::string_view equation, TensorList tensors, OptionalIntArrayRef path, Site site) {
  const SiteScope scope(site);
  GROOVE_CHECK(!tensors.empty(), "einsum: there are no operands; give at least one");
  const std::size_t arrow = equation.find("->");
  const std::vector<Labels> inputs = subscripts(equation.substr(0, arrow));
  GROOVE_CHECK(inputs.size() == tensors.size(), "einsum: {} subscripts for {} operands",
               inputs.size(), tensors.size());
  std::vector<Operand> operands;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    operands.push_back(
        {tensors[i], spread(inputs[i], checked("einsum", tensors[i]).geometry.sizes.size())});
  Sizes sizes;
  const std::vector<Operand> written = operands;
  for (Operand& operand : operands) take_diagonals(operand);
  note_sizes(operands, sizes);
  Labels output = result_labels(written, sizes);
  if (arrow != std::string_view::npos) {
    const Labels labels = subscript(equation.substr(arrow + 2));
    const std::size_t dots = has(labels, kDots) ? sizes.of_dots.size() : 0;
    output = spread(labels, labels.size() - (has(labels, kDots) ? 1 : 0) + dots);
    for (std::size_t i = 0; i < output.size(); ++i) {
      bool is_known = output[i] < 0;
      for (const Operand& operand : operands) is_known |= has(operand.labels, output[i]);
      GROOVE_CHECK(is_known && place_of(output, output[i]) == i,
                   "einsum: '{}' in the result of \"{}\" must stand in an operand, and once",
                   static_cast<char>(output[i]), equation);
    }
  }
  for (Operand& operand : operands) drop_broadcast(operand, sizes);
  for (std::size_t step = 0; operands.size() > 1; ++step) {
    auto [i, j] = smallest_pair(operands, output, sizes);
    if (path) {
      GROOVE_CHECK(path->size() == 2 * (tensors.size() - 1),
                   "einsum: a path of {} numbers; {} operands need {}", path->size(),
                   tensors.size(), 2 * (tensors.size() - 1));
      i = static_cast<std::size_t>((*path)[2 * step]);
      j = static_cast<std::size_t>((*path)[2 * step + 1]);
      GROOVE_CHECK(i != j && i < operands.size() && j < operands.size(),
                   "einsum: the path names operands {} and {} of {}", i, j, operands.size());
      if (i > j) std::swap(i, j);
    }
    const Labels kept = needed(operands, i, j, output);
    Operand product = multiplied(operands[i], operands[j], kept, sizes);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(j));
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(i));
    operands.push_back(std::move(product));
  }
  sum_over(operands[0], output);
  return arranged(operands[0], {&output});
}

}  // namespace groove
