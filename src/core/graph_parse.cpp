// The parser of the text form that graph_text.cpp prints: recursive descent over characters, with
// line and column in every error. Types of nodes are derived, not read.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "src/core/check.h"
#include "src/core/fork.h"
#include "src/core/graph.h"
#include "src/core/graph_values.h"
#include "src/core/subgraph.h"

namespace groove {
namespace {

constexpr std::int64_t kMostDraws = std::int64_t{1} << 60;

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  GraphWithValues run() {
    Graph graph = parse_one();
    skip();
    if (at_ != text_.size()) fail("text after the end of the graph");
    return {std::move(graph), std::move(values_), draws_};
  }

 private:
  Parser(const std::string& text, std::size_t at, int depth)
      : text_(text), at_(at), depth_(depth) {}

  Graph parse_one() {
    expect("graph");
    parse_header();
    expect("{");
    while (!accept_word("return")) parse_statement();
    parse_return();
    expect("}");
    return std::move(graph_);
  }
  // The value of an attribute: a graph with names of its own.
  std::int64_t inner_graph() {
    constexpr int kDeepest = 64;
    if (depth_ >= kDeepest) fail("graphs are nested too deeply");
    Parser inner(text_, at_, depth_ + 1);
    Graph graph = inner.parse_one();
    at_ = inner.at_;
    return intern(std::move(graph));
  }

  [[noreturn]] void fail(const std::string& reason) const {
    std::size_t line = 1, column = 1;
    for (std::size_t i = 0; i < at_ && i < text_.size(); ++i) {
      column = text_[i] == '\n' ? 1 : column + 1;
      line += text_[i] == '\n';
    }
    throw_error(fmt::format("graph text, line {}, column {}: {}", line, column, reason));
  }

  void skip() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '/' && text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (std::isspace(static_cast<unsigned char>(c)) || c == ';') {
        ++at_;
      } else {
        return;
      }
    }
  }
  bool accept(const char* token) {
    skip();
    const std::string wanted(token);
    if (text_.compare(at_, wanted.size(), wanted) != 0) return false;
    at_ += wanted.size();
    return true;
  }
  void expect(const char* token) {
    if (!accept(token)) fail(fmt::format("expected `{}`", token));
  }
  static bool is_name_character(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
  }
  bool accept_word(const char* word) {
    const std::size_t before = at_;
    if (accept(word) && (at_ == text_.size() || !is_name_character(text_[at_]))) return true;
    at_ = before;
    return false;
  }
  std::string word() {
    skip();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    if (begin == at_) fail("expected a name");
    return text_.substr(begin, at_ - begin);
  }

  std::int64_t integer() {
    skip();
    char* end = nullptr;
    const std::int64_t value = std::strtoll(text_.c_str() + at_, &end, 0);
    if (end == text_.c_str() + at_) fail("expected an integer");
    at_ = static_cast<std::size_t>(end - text_.c_str());
    return value;
  }
  double real() {
    if (accept_word("bits")) {
      skip();
      char* end = nullptr;
      const std::uint64_t bits = std::strtoull(text_.c_str() + at_, &end, 0);
      at_ = static_cast<std::size_t>(end - text_.c_str());
      return std::bit_cast<double>(bits);
    }
    if (accept_word("nan")) return std::numeric_limits<double>::quiet_NaN();
    skip();
    char* end = nullptr;
    const double value = std::strtod(text_.c_str() + at_, &end);
    if (end == text_.c_str() + at_) fail("expected a number");
    at_ = static_cast<std::size_t>(end - text_.c_str());
    return value;
  }
  // An integer unless it is written with a point, an exponent or as inf, nan or bits.
  Scalar scalar() {
    if (accept_word("true")) return Scalar(true);
    if (accept_word("false")) return Scalar(false);
    skip();
    const std::size_t begin = at_;
    const double value = real();
    const std::string spelled = text_.substr(begin, at_ - begin);
    if (spelled.find_first_of(".en") != std::string::npos) return Scalar(value);
    if (spelled.find("bits") != std::string::npos) return Scalar(value);
    at_ = begin;
    return Scalar(integer());
  }
  Shape integers() {
    Shape values;
    expect("[");
    if (accept("]")) return values;
    do values.push_back(integer());
    while (accept(","));
    expect("]");
    return values;
  }
  ScalarType dtype() {
    const std::string spelled = word();
    const ScalarType found = dtype_of_short_name(spelled);
    if (found == ScalarType::Undefined) fail(fmt::format("`{}` is not a dtype", spelled));
    return found;
  }

  void define(const std::string& name, ValueId id) {
    if (!names_.emplace(name, id).second) fail(fmt::format("`{}` is defined twice", name));
    graph_.values[static_cast<std::size_t>(id)].name = name;
  }
  ValueId value() {
    const std::string name = word();
    if (name == "_") return kNoValue;
    const auto found = names_.find(name);
    if (found == names_.end()) fail(fmt::format("`{}` is not defined before its use", name));
    return found->second;
  }

  void parse_header() {
    expect("(");
    if (!accept(")")) {
      do parse_parameter();
      while (accept(","));
      expect(")");
    }
    if (accept_word("draws")) {
      const std::int64_t draws = integer();
      if (draws < 0 || draws > kMostDraws) fail("there cannot be so many draws");
      draws_ = static_cast<std::uint64_t>(draws);
    }
    if (accept_word("stages")) graph_.stages = static_cast<std::int32_t>(integer());
  }
  void parse_parameter() {
    if (accept("#")) {
      if (integer() != static_cast<std::int64_t>(graph_.numbers.size())) {
        fail("entry numbers are declared in order");
      }
      expect(":");
      graph_.numbers.push_back(dtype());
      if (graph_.numbers.back() != kDouble && graph_.numbers.back() != kLong) {
        fail("an entry number is f64 or i64");
      }
      values_.emplace_back();
      if (accept("=")) values_.back() = scalar();
      return;
    }
    const std::string name = word();
    expect(":");
    Type type;
    type.dtype = dtype();
    type.sizes = integers();
    Shape strides = contiguous_strides(type.sizes);
    if (accept_word("strides")) strides = integers();
    if (strides.size() != type.sizes.size()) fail("strides and sizes differ in length");
    try {
      check_sizes("`" + name + "`", type);
      check_strides("`" + name + "`", type, strides);
    } catch (const Error& error) {
      fail(error.msg());
    }
    define(name, graph_.add_input(std::move(type), std::move(strides)));
  }

  void parse_statement() {
    std::vector<std::string> results;
    do results.push_back(word());
    while (accept(","));
    expect("=");
    const std::size_t begin = at_;
    const std::string name = word();
    const Op* const op = find_op(name);
    if (!op) {
      at_ = begin;
      fail(fmt::format("there is no operator `{}`", name));
    }
    std::vector<ValueId> operands;
    expect("(");
    if (!accept(")")) {
      do operands.push_back(value());
      while (accept(","));
      expect(")");
    }
    Attrs attrs;
    if (!op->attributes.empty()) attrs = parse_attributes(*op);
    std::vector<NumberRef> numbers = parse_numbers(*op);
    const auto stage = accept_word("stage") ? static_cast<std::int32_t>(integer()) : 0;
    Source source;
    if (accept("@")) {
      source.file = lasting_text(word());
      expect(":");
      source.line = static_cast<std::uint32_t>(integer());
    }
    add(*op, std::move(operands), std::move(attrs), std::move(numbers), source, stage, results);
  }
  void add(const Op& op, std::vector<ValueId> operands, Attrs attrs, std::vector<NumberRef> numbers,
           Source source, std::int32_t stage, const std::vector<std::string>& results) {
    if (op.inputs >= 0 && operands.size() != static_cast<std::size_t>(op.inputs)) {
      fail(fmt::format("{} takes {} operands, not {}", op.name, op.inputs, operands.size()));
    }
    std::int32_t index = -1;
    try {
      index = graph_.add_node(op, std::move(operands), std::move(attrs), std::move(numbers), source,
                              stage);
      for (const ValueId id : graph_.nodes[static_cast<std::size_t>(index)].outputs)
        check_sizes(op.name, graph_.type(id));
    } catch (const Error& error) {
      fail(error.msg());
    }
    const std::vector<ValueId> outputs = graph_.nodes[static_cast<std::size_t>(index)].outputs;
    if (outputs.size() != results.size()) {
      fail(fmt::format("{} has {} results, not {}", op.name, outputs.size(), results.size()));
    }
    for (std::size_t i = 0; i < results.size(); ++i) define(results[i], outputs[i]);
  }

  Attrs parse_attributes(const Op& op) {
    Attrs attrs;
    expect("{");
    for (std::size_t i = 0; i < op.attributes.size(); ++i) {
      const AttrField& field = op.attributes[i];
      if (i) expect(",");
      if (!accept_word(field.name)) fail(fmt::format("expected attribute `{}`", field.name));
      expect(":");
      switch (field.type) {
        case AttrType::kInt:
          attrs.add(integer());
          break;
        case AttrType::kInts:
          attrs.add(IntArrayRef(integers()));
          break;
        case AttrType::kBool:
          attrs.add(static_cast<std::int64_t>(scalar().toBool()));
          break;
        case AttrType::kDtype:
          attrs.add(dtype());
          break;
        case AttrType::kDouble:
          attrs.add_double(real());
          break;
        case AttrType::kGraph:
          attrs.add(inner_graph());
          break;
      }
    }
    expect("}");
    return attrs;
  }
  std::vector<NumberRef> parse_numbers(const Op& op) {
    std::vector<NumberRef> numbers;
    if (!accept("<")) return numbers;
    do {
      if (numbers.size() < op.number_names.size() && accept_word(op.number_names[numbers.size()])) {
        expect(":");
      }
      NumberRef number;
      if (accept("#")) {
        const std::int64_t entry = integer();
        if (entry < 0 || entry >= static_cast<std::int64_t>(graph_.numbers.size())) {
          fail("there is no such entry number");
        }
        number.entry = static_cast<std::int32_t>(entry);
        number.constant = values_[static_cast<std::size_t>(entry)].value_or(Scalar());
      } else {
        number.constant = scalar();
      }
      numbers.push_back(number);
    } while (accept(","));
    expect(">");
    return numbers;
  }

  void parse_return() {
    if (accept("}")) {
      --at_;
      return;
    }
    do {
      GraphOutput output;
      output.value = value();
      if (output.value == kNoValue) fail("an output must be a value");
      if (accept("->")) {
        const ValueId target = value();
        if (target == kNoValue || graph_.values[static_cast<std::size_t>(target)].node >= 0) {
          fail("only inputs can be overwritten");
        }
        output.writes = graph_.values[static_cast<std::size_t>(target)].output;
      }
      if (accept_word("stage")) output.stage = static_cast<std::int32_t>(integer());
      graph_.outputs.push_back(output);
    } while (accept(","));
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  Graph graph_;
  std::vector<std::optional<Scalar>> values_;  // of entry numbers
  std::uint64_t draws_ = 0;
  std::unordered_map<std::string, ValueId> names_;
};

}  // namespace

Graph parse_graph(const std::string& text) { return Parser(text).run().graph; }
GraphWithValues parse_graph_with_values(const std::string& text) { return Parser(text).run(); }

// Node::source keeps plain pointers, so file names that were read live for ever.
const char* lasting_text(const std::string& text) {
  static std::mutex mutex;
  static auto& names = *new std::unordered_set<std::string>;
  const ForkGate gate;
  const std::lock_guard lock(mutex);
  return names.insert(text).first->c_str();
}

ScalarType dtype_of_short_name(const std::string& text) {
  for (int i = 0; i < static_cast<int>(ScalarType::NumOptions); ++i) {
    const auto candidate = static_cast<ScalarType>(i);
    if (element_size(candidate) != 0 && text == short_name(candidate)) return candidate;
  }
  return ScalarType::Undefined;
}

void check_sizes(const std::string& what, const Type& type) {
  constexpr std::int64_t kMostBytes = std::int64_t{1} << 46;  // what an address reaches
  std::int64_t bytes = static_cast<std::int64_t>(element_size(type.dtype));
  GROOVE_CHECK(bytes != 0, "{} has dtype {}, which tensors cannot have", what, name(type.dtype));
  for (const std::int64_t size : type.sizes) {
    GROOVE_CHECK(size >= 0, "{} has the size {}", what, size);
    GROOVE_CHECK(size == 0 || bytes <= kMostBytes / size, "{} has shape {}: no memory holds it",
                 what, to_string(type.sizes));
    bytes *= std::max<std::int64_t>(size, 1);
  }
}

void check_strides(const std::string& what, const Type& type, const Shape& strides) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    const std::int64_t size = std::max<std::int64_t>(type.sizes[i], 1);
    GROOVE_CHECK(strides[i] >= 0 && strides[i] <= kMost / size, "{} has strides {}", what,
                 to_string(strides));
  }
}

}  // namespace groove
