// The text form of kernels, for tests, dumps and bug reports: one line an access, parameter,
// table or instruction; `phase` opens a phase; `#` starts a comment. Ids are positions.
#include <fmt/format.h>

#include <bit>
#include <optional>
#include <sstream>

#include "kernels/scalings.h"
#include "src/core/check.h"

namespace groove::kernels {
namespace {

constexpr const char* kOrderNames[] = {"map", "row", "column", "tree"};
constexpr const char* kStrideNames[] = {"contiguous", "broadcast", "strided"};

enum class Immediate { kNone, kBits, kNumber, kMark };
Immediate immediate(Prim prim) {
  switch (prim) {
    case Prim::kConstant:
      return Immediate::kBits;
    case Prim::kParam:
    case Prim::kIndex:
    case Prim::kLoad:
    case Prim::kLoadAt:
    case Prim::kLookup:
    case Prim::kStore:
      return Immediate::kNumber;
    case Prim::kMul:
      return Immediate::kMark;
    default:
      return Immediate::kNone;
  }
}

std::string comment(const Instr& instr) {
  if (instr.prim != Prim::kConstant) return {};
  if (instr.dtype == kFloat) {
    return fmt::format("  # {}", std::bit_cast<float>(static_cast<std::uint32_t>(instr.imm)));
  }
  if (instr.dtype == kDouble) return fmt::format("  # {}", std::bit_cast<double>(instr.imm));
  return {};
}

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  Kernel run() {
    std::string line;
    bool has_header = false;
    while (std::getline(text_, line)) {
      ++line_number_;
      line.resize(std::min(line.find('#'), line.size()));
      std::istringstream words(line);
      std::string first;
      if (!(words >> first)) continue;
      words_ = &words;
      if (first == "kernel") {
        kernel_.order = choose<Order>(kOrderNames, "order");
        has_header = true;
      } else if (!has_header) {
        fail("text begins with `kernel <order>`");
      } else {
        parse_line(first);
      }
      if (std::string rest; words >> rest) fail("unexpected `" + rest + "`");
    }
    if (!has_header) fail("no `kernel` line");
    if (!kernel_.phases.empty()) kernel_.phases.back().end = position();
    if (const std::string problem = verify(kernel_); !problem.empty()) fail(problem);
    return std::move(kernel_);
  }

 private:
  [[noreturn]] void fail(const std::string& reason) const {
    throw_error(fmt::format("parse_kernel: line {}: {}", line_number_, reason));
  }
  std::int32_t position() const { return static_cast<std::int32_t>(kernel_.code.size()); }

  std::string next(const char* what) {
    std::string word;
    if (!(*words_ >> word)) fail(fmt::format("expected {}", what));
    return word;
  }

  template <typename T, std::size_t N>
  T choose(const char* const (&names)[N], const char* what) {
    const std::string word = next(what);
    for (std::size_t i = 0; i < N; ++i) {
      if (word == names[i]) return static_cast<T>(i);
    }
    fail(fmt::format("no {} `{}`", what, word));
  }

  std::uint64_t number(const std::string& word, int base) const {
    std::size_t used = 0;
    std::uint64_t value = 0;
    try {
      value = std::stoull(word, &used, base);
    } catch (const std::logic_error&) {
      fail("expected a number, found `" + word + "`");
    }
    if (used != word.size() || word[0] == '-') fail("expected a number, found `" + word + "`");
    return value;
  }

  ScalarType dtype() {
    const std::string word = next("a dtype");
    for (int i = 0; i < static_cast<int>(ScalarType::Undefined); ++i) {
      if (word == short_name(static_cast<ScalarType>(i))) return static_cast<ScalarType>(i);
    }
    fail("no dtype `" + word + "`");
  }

  void expect_index(std::size_t expected) {
    if (number(next("an index"), 10) != expected) fail("indices count up from 0");
  }

  void parse_line(const std::string& first) {
    if (first == "access") {
      expect_index(kernel_.accesses.size());
      static constexpr const char* kKinds[] = {"load", "store"};
      Access access;
      access.is_store = choose<int>(kKinds, "kind of access") == 1;
      access.dtype = dtype();
      access.inner = choose<StrideClass>(kStrideNames, "stride class");
      kernel_.accesses.push_back(access);
    } else if (first == "scalar") {
      expect_index(kernel_.scalars.size());
      kernel_.scalars.push_back(dtype());
    } else if (first == "table") {
      expect_index(kernel_.tables.size());
      Table table;
      table.dtype = dtype();
      for (std::string word; *words_ >> word;) table.bits.push_back(number(word, 16));
      kernel_.tables.push_back(std::move(table));
    } else if (first == "phase") {
      if (!kernel_.phases.empty()) kernel_.phases.back().end = position();
      kernel_.phases.push_back({position(), position()});
    } else {
      parse_instr(first);
    }
  }

  void parse_instr(const std::string& first) {
    if (first != fmt::format("%{}", kernel_.code.size())) {
      fail(fmt::format("expected `%{} = …`", kernel_.code.size()));
    }
    if (next("`=`") != "=") fail("expected `=`");
    const std::string prim_name = next("a primitive");
    std::optional<Prim> prim;
    for (int i = 0; i <= static_cast<int>(Prim::kStore); ++i) {
      if (prim_name == name(static_cast<Prim>(i))) prim = static_cast<Prim>(i);
    }
    if (!prim) fail("no primitive `" + prim_name + "`");
    Instr instr{.prim = *prim, .dtype = dtype()};
    for (int i = 0; i < arg_count(*prim); ++i) {
      const std::string word = next("an operand");
      if (word[0] != '%') fail("expected an operand, found `" + word + "`");
      const std::uint64_t id = number(word.substr(1), 10);
      if (id >= kernel_.code.size()) fail("operand `" + word + "` is not defined before");
      instr.args[i] = static_cast<std::int32_t>(id);
    }
    switch (immediate(*prim)) {
      case Immediate::kBits:
        instr.imm = number(next("the bits of the constant"), 16);
        break;
      case Immediate::kNumber: {
        const std::string word = next("an immediate");
        if (word[0] != '@') fail("expected an immediate, found `" + word + "`");
        instr.imm = number(word.substr(1), 10);
        break;
      }
      case Immediate::kMark: {
        std::string word;
        if (*words_ >> word && word != "exact") fail("expected `exact`, found `" + word + "`");
        instr.imm = word.empty() ? 0 : kExactProduct;
        break;
      }
      case Immediate::kNone:
        break;
    }
    kernel_.code.push_back(instr);
  }

  std::istringstream text_;
  std::istringstream* words_ = nullptr;
  int line_number_ = 0;
  Kernel kernel_;
};

}  // namespace

Kernel parse_kernel(const std::string& text) { return Parser(text).run(); }

std::string print(const Kernel& kernel) {
  std::string text = fmt::format("kernel {}\n", kOrderNames[static_cast<int>(kernel.order)]);
  for (std::size_t i = 0; i < kernel.accesses.size(); ++i) {
    const Access& access = kernel.accesses[i];
    text += fmt::format("access {} {} {} {}\n", i, access.is_store ? "store" : "load",
                        short_name(access.dtype), kStrideNames[static_cast<int>(access.inner)]);
  }
  for (std::size_t i = 0; i < kernel.scalars.size(); ++i) {
    text += fmt::format("scalar {} {}\n", i, short_name(kernel.scalars[i]));
  }
  for (std::size_t i = 0; i < kernel.tables.size(); ++i) {
    text += fmt::format("table {} {}", i, short_name(kernel.tables[i].dtype));
    for (std::uint64_t bits : kernel.tables[i].bits) text += fmt::format(" {:#x}", bits);
    text += '\n';
  }
  std::size_t phase = 0;
  for (std::size_t id = 0; id <= kernel.code.size(); ++id) {
    while (phase < kernel.phases.size() &&
           static_cast<std::size_t>(kernel.phases[phase].begin) == id) {
      text += "phase\n";
      ++phase;
    }
    if (id == kernel.code.size()) break;
    const Instr& instr = kernel.code[id];
    text += fmt::format("%{} = {} {}", id, name(instr.prim), short_name(instr.dtype));
    for (int i = 0; i < arg_count(instr.prim); ++i) text += fmt::format(" %{}", instr.args[i]);
    switch (immediate(instr.prim)) {
      case Immediate::kBits:
        text += fmt::format(" {:#x}", instr.imm);
        break;
      case Immediate::kNumber:
        text += fmt::format(" @{}", instr.imm);
        break;
      case Immediate::kMark:
        if (instr.imm == kExactProduct) text += " exact";
        break;
      case Immediate::kNone:
        break;
    }
    text += comment(instr) + '\n';
  }
  return text;
}

}  // namespace groove::kernels
