#include "tracer/cache/any_size.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <unordered_map>

#include "src/core/check.h"

namespace groove::tracer {
namespace {

// Of the samples between the bounds.
constexpr int kInner = 1, kInnerOfASize = 2;

SizedRow::Kind kind_of(const ProgramNumber& number) {
  if (!number.is_real()) return SizedRow::Kind::kInteger;
  return number.is_float() ? SizedRow::Kind::kFloat : SizedRow::Kind::kDouble;
}

AnySize::Ones symbols_of(const SizeExpression& expression) {
  AnySize::Ones symbols = 0;
  for (const SizeExpression::Term& term : expression.terms)
    for (const std::int16_t symbol : term.symbols)
      if (symbol >= 0) symbols |= AnySize::one(static_cast<std::size_t>(symbol));
  return symbols;
}

std::string text_of(const SizedRow& row) {
  std::string text;
  for (const std::int64_t value : row.values)
    text += row.kind == SizedRow::Kind::kInteger ? fmt::format(" {}", value)
                                                 : fmt::format(" {}", std::bit_cast<double>(value));
  return text;
}

}  // namespace

std::vector<TypeNumber> type_numbers(Segment& segment) {
  std::vector<TypeNumber> numbers;
  const auto add = [&](Shape& shape, SlotId slot) {
    for (std::uint32_t axis = 0; axis < shape.size(); ++axis)
      numbers.push_back({&shape, axis, slot});
  };
  for (Value& value : segment.graph.values) add(value.type.sizes, kNoSlot);
  for (GraphInput& input : segment.graph.inputs) add(input.strides, kNoSlot);
  for (std::size_t id = 0; id < segment.slots.size(); ++id) {
    Slot& slot = segment.slots[id];
    if (slot.is_live_in) continue;
    add(slot.type.sizes, static_cast<SlotId>(id));
    add(slot.strides, static_cast<SlotId>(id));
  }
  return numbers;
}

// ---- finding it ----

// Sizes that are the same by chance let a program do more at once than others can. So what is alike
// to programs of which all sizes differ is looked for first as it is, then with them apart.
class AnySize::Finder {
 public:
  Finder(Search& search, std::vector<Bounds>& bounds, const Make& make)
      : bounds_(bounds), make_(make), samples_(search.samples) {
    const SizeValues& now = search.now;
    GROOVE_CHECK(now.size() <= kMostSizes, "{} sizes vary", now.size());
    if (!set_apart(now, 0, now_)) now_ = now;
  }

  void run() {
    GROOVE_CHECK(at(now_).program, "a program whose sizes are in more than numbers");
    GROOVE_CHECK(are_corners_alike() || are_narrow_ones_alike(), "another program for each size");
    add_inner();
  }

 private:
  const Sample& at(const SizeValues& sizes) {
    for (const Sample& known : samples_)
      if (known.sizes == sizes) return known;
    const bool is_first = samples_.empty();
    Sample made = make_(sizes, is_first ? nullptr : samples_[0].program.get());
    if (!is_first) made.graph = {};
    samples_.push_back(std::move(made));
    return samples_.back();
  }
  bool is_alike(const SizeValues& sizes) {
    const Sample& other = at(sizes);
    return other.program && other.numbers.structure == samples_[0].numbers.structure &&
           other.numbers.numbers.size() == samples_[0].numbers.numbers.size();
  }
  static bool are_apart(const SizeValues& sizes) {
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if (std::count(sizes.begin(), sizes.end(), sizes[i]) > 1) return false;
    return true;
  }
  // All but that of `kept` at the nearest sizes that differ, within the bounds.
  bool set_apart(const SizeValues& sizes, std::size_t kept, SizeValues& apart) const {
    apart.assign(1, sizes[kept]);
    for (std::size_t symbol = 0; symbol < sizes.size(); ++symbol) {
      if (symbol == kept) continue;
      const auto& [least, greatest] = bounds_[symbol];
      std::int64_t size = sizes[symbol];
      const auto is_taken = [&] {
        return std::find(apart.begin(), apart.end(), size) != apart.end();
      };
      for (std::int64_t by = 1; is_taken() && by <= greatest - least; ++by) {
        size = sizes[symbol] + by;
        if (size > greatest || is_taken()) size = sizes[symbol] - by;
        if (size < least) size = sizes[symbol];
      }
      if (is_taken()) return false;
      apart.push_back(size);
    }
    std::rotate(apart.begin(), apart.begin() + 1,
                apart.begin() + static_cast<std::ptrdiff_t>(kept) + 1);
    return true;
  }
  // … each of `exact` being at its size in one of the programs.
  template <typename Symbols>
  bool is_alike_apart(const SizeValues& sizes, const Symbols& exact) {
    if (is_alike(sizes)) return true;
    SizeValues apart;
    return !are_apart(sizes) && std::all_of(exact.begin(), exact.end(), [&](std::size_t symbol) {
      return set_apart(sizes, symbol, apart) && is_alike(apart);
    });
  }
  bool are_corners_alike() {
    SizeValues least, greatest;
    std::vector<std::size_t> all;
    for (const Bounds& bounds : bounds_) {
      all.push_back(all.size());
      least.push_back(bounds.least);
      greatest.push_back(bounds.greatest);
    }
    return is_alike_apart(least, all) && is_alike_apart(greatest, all);
  }
  // One after the other; the bounds of one are most likely those of the next ones, too.
  bool are_narrow_ones_alike() {
    for (std::size_t symbol = 0; symbol < now_.size(); ++symbol) {
      narrow(symbol);
      const std::vector<Bounds> wide = bounds_;
      for (std::size_t next = symbol + 1; next < now_.size(); ++next) {
        auto& [least, greatest] = bounds_[next];
        least = std::min(now_[next], std::max(least, bounds_[symbol].least));
        greatest = std::max(now_[next], std::min(greatest, bounds_[symbol].greatest));
      }
      if (are_corners_alike()) return true;
      bounds_ = wide;
    }
    return false;
  }
  // Bounds of numerics and of vectors are powers of two, or one more.
  void narrow(std::size_t symbol) {
    SizeValues sizes = now_;
    const auto is_alike_at = [&](std::int64_t size) {
      sizes[symbol] = size;
      return is_alike_apart(sizes, std::array{symbol});
    };
    auto& [least, greatest] = bounds_[symbol];
    const std::int64_t now = now_[symbol];
    std::vector<std::int64_t> above{now}, below{now};  // ever farther
    for (std::int64_t power = ceiling_of_two(std::max<std::int64_t>(now, 1)); power <= greatest;
         power *= 2)
      for (const std::int64_t size : {power - 1, power})
        if (size > above.back()) above.push_back(size);
    if (greatest > above.back()) above.push_back(greatest);
    for (std::int64_t power = floor_of_two(std::max<std::int64_t>(now, 1)); power > 0; power /= 2)
      for (const std::int64_t size : {power + 1, power})
        if (size < below.back() && size >= least) below.push_back(size);
    if (least < below.back()) below.push_back(least);
    greatest = farthest(above, is_alike_at);
    least = farthest(below, is_alike_at);
  }
  // What differs at one size does so at those beyond: the last one before that, in few steps.
  template <typename IsAlike>
  static std::int64_t farthest(const std::vector<std::int64_t>& sizes, const IsAlike& is_alike_at) {
    std::size_t alike = 0, unlike = sizes.size();
    if (is_alike_at(sizes.back())) return sizes.back();
    --unlike;
    while (unlike - alike > 1) {
      const std::size_t middle = alike + (unlike - alike) / 2;
      (is_alike_at(sizes[middle]) ? alike : unlike) = middle;
    }
    return sizes[alike];
  }
  void add_inner() {
    std::uint64_t drawn = 0x2545f4914f6cdd1d;
    const int count = kInner + kInnerOfASize * static_cast<int>(now_.size());
    for (int i = 0; i < count; ++i) {
      SizeValues sizes, apart;
      for (const Bounds& bounds : bounds_) {
        drawn = drawn * 6364136223846793005u + 1442695040888963407u;
        const std::int64_t room = bounds.greatest - bounds.least + 1;
        // Of a few sizes all.
        const auto step = room <= count ? static_cast<std::uint64_t>(i) : drawn >> 33;
        sizes.push_back(bounds.least +
                        static_cast<std::int64_t>(step % static_cast<std::uint64_t>(room)));
      }
      GROOVE_CHECK(is_alike(set_apart(sizes, 0, apart) ? apart : sizes),
                   "other programs for some sizes between");
    }
    // What had another structure tells nothing.
    std::erase_if(samples_, [&](const Sample& sample) {
      return !sample.program || sample.numbers.structure != samples_[0].numbers.structure;
    });
  }

  SizeValues now_;
  std::vector<Bounds>& bounds_;
  const Make& make_;
  std::vector<Sample>& samples_;
};

AnySize::AnySize(Search& search, const Make& make, const TypesAt& types_at)
    : bounds_(search.widest) {
  Finder(search, bounds_, make).run();
  std::vector<Sample>& samples = search.samples;
  structure_ = samples[0].numbers.structure;
  first_ = samples[0].program;
  bytes_ = first_->memory_bytes();
  graph_ = std::move(samples[0].graph);
  types_ = samples[0].types;
  std::vector<SizeValues> sizes;
  for (const Sample& sample : samples) sizes.push_back(sample.sizes);

  // Numbers with the same values have one expression.
  std::unordered_map<SizedRow, std::uint32_t, SizedRow::Hash> row_of;
  std::vector<SizedRow> rows;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> types, program;  // number, row
  SizedRow sized;
  const auto add = [&](auto& to, std::size_t number, SizedRow::Kind kind, const auto& value_in) {
    sized.kind = kind;
    sized.values.clear();
    for (const Sample& sample : samples) sized.values.push_back(value_in(sample));
    if (std::count(sized.values.begin(), sized.values.end(), sized.values[0]) ==
        static_cast<std::ptrdiff_t>(samples.size()))
      return;
    const auto [row, is_new] = row_of.try_emplace(sized, static_cast<std::uint32_t>(rows.size()));
    if (is_new) rows.push_back(sized);
    to.emplace_back(static_cast<std::uint32_t>(number), row->second);
  };
  for (std::size_t i = 0; i < samples[0].types.size(); ++i)
    add(types, i, SizedRow::Kind::kInteger, [&](const Sample& sample) { return sample.types[i]; });
  for (std::size_t i = 0; i < samples[0].numbers.numbers.size(); ++i) {
    const auto value_in = [&](const Sample& sample) { return sample.numbers.numbers[i].value(); };
    const ProgramNumber& number = samples[0].numbers.numbers[i];
    if (!number.is_room()) {
      add(program, i, kind_of(number), value_in);
      continue;
    }
    std::int64_t most = 0;
    for (const Sample& sample : samples) most = std::max(most, value_in(sample));
    rooms_.push_back({static_cast<std::uint32_t>(i), most});
  }

  // A size that is one and the same says nothing.
  std::vector<std::int16_t> varying;
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    if (bounds_[i].least < bounds_[i].greatest) varying.push_back(static_cast<std::int16_t>(i));
  for (SizeValues& of_sample : sizes) {
    for (std::size_t i = 0; i < varying.size(); ++i)
      of_sample[i] = of_sample[static_cast<std::size_t>(varying[i])];
    of_sample.resize(varying.size());
  }
  std::vector<std::optional<SizeExpression>> found = fit_rows(sizes, rows);
  for (auto& expression : found)
    if (expression) expression->rename(varying);
  moving_.resize(rows.size());
  for (const auto& [number, row] : types) {
    GROOVE_CHECK(found[row], "a size or stride follows from no size:{}", text_of(rows[row]));
    moving_[row].types.push_back(number);
  }
  for (const auto& [number, row] : program) {
    GROOVE_CHECK(found[row], "a number of the program follows from no size:{}", text_of(rows[row]));
    moving_[row].program.push_back(number);
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    moving_[row].symbols = symbols_of(*found[row]);
    moving_[row].expression = std::move(*found[row]);
  }
  find_ones(search.now, types_at);
}

// Each of them alone, and all at once.
void AnySize::find_ones(const SizeValues& now, const TypesAt& types_at) {
  const auto is_alike = [&](Ones ones) {
    SizeValues sizes = now;
    for (std::size_t i = 0; i < sizes.size(); ++i)
      if ((ones & one(i)) != 0) sizes[i] = 1;
    const std::optional<SizeValues> there = types_at(sizes);
    if (!there) return false;
    SizeValues types = types_;
    for (const Moving& moving : moving_)
      for (const std::uint32_t number : moving.types)
        types[number] = moving.expression.value(sizes);
    return std::equal(
        types.begin(), types.end(), there->begin(), there->end(),
        [](std::int64_t own, std::int64_t known) { return known == kAny || known == own; });
  };
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    if (bounds_[i].least == 2 && is_alike(one(i))) ones_ |= one(i);
  if (std::popcount(ones_) > 1 && !is_alike(ones_)) ones_ = 0;
}

bool AnySize::covers(const SizeValues& sizes, Ones ones) const {
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (!covers(i, sizes[i], ones)) return false;
  return true;
}

std::string AnySize::describe() const {
  std::string text = "for sizes";
  for (std::size_t i = 0; i < bounds_.size(); ++i)
    text += fmt::format(" {}{}..{}", (ones_ & one(i)) != 0 ? "(1) " : "", bounds_[i].least,
                        bounds_[i].greatest);
  return text;
}

// ---- being at sizes ----

AnySize::Ones AnySize::changed(const SizeValues& before, const SizeValues& now) {
  if (before.size() != now.size() || now.size() > kMostSizes) return kAll;
  Ones changed = 0;
  for (std::size_t i = 0; i < now.size(); ++i)
    if (before[i] != now[i]) changed |= one(i);
  return changed;
}

bool AnySize::set_types(const SizeValues& sizes, const std::vector<TypeNumber>& types, Ones changed,
                        bool are_others, SlotId first_slot) const {
  const auto set = [&](std::size_t number, std::int64_t value) {
    std::int64_t& at = types[number].value();
    if (at == value) return true;
    if (types[number].slot != kNoSlot && types[number].slot < first_slot) return false;
    at = value;
    return true;
  };
  SizeValues all = are_others ? types_ : SizeValues();
  for (const Moving& moving : moving_) {
    if (moving.types.empty() || (!are_others && (moving.symbols & changed) == 0)) continue;
    const std::int64_t value = moving.expression.value(sizes);
    for (const std::uint32_t number : moving.types) {
      if (are_others)
        all[number] = value;
      else if (!set(number, value))
        return false;
    }
  }
  for (std::size_t number = 0; number < all.size(); ++number)
    if (!set(number, all[number])) return false;
  return true;
}

AnySize::Program::Program(std::shared_ptr<const AnySize> of)
    : of_(std::move(of)),
      executable_(of_->is_given_.exchange(true)
                      ? registered_compiler()->compile_for_any_size(of_->graph_, of_->first_.get())
                      : of_->first_) {
  GROOVE_CHECK(
      executable_ && executable_->list_numbers(numbers_) && numbers_.structure == of_->structure_,
      "a program of another structure");
  NumbersSet set;
  for (const Room& room : of_->rooms_) {
    const ProgramNumber& number = numbers_.numbers[room.number];
    if (number.set(room.most)) set.add(number);
  }
  executable_->settle(set);
}

std::int32_t AnySize::Program::take_on(const SizeValues& sizes) {
  const Ones changed_ones = changed(sizes_, sizes);
  sizes_ = sizes;
  NumbersSet set;
  for (const Moving& moving : of_->moving_) {
    if (moving.program.empty() || (moving.symbols & changed_ones) == 0) continue;
    const std::int64_t value = moving.expression.value(sizes);
    for (const std::uint32_t number : moving.program)
      if (numbers_.numbers[number].set(value)) set.add(numbers_.numbers[number]);
  }
  return executable_->settle(set);
}

}  // namespace groove::tracer
