// Two steps: the opcodes make a graph of nodes, whatever refers to whatever; then values are made
// of it, with limits on depth and number, which end what refers to itself.
#include <cstring>
#include <deque>
#include <map>
#include <unordered_map>

#include "groove/autograd.h"
#include "groove/ops/complex.h"
#include "groove/ops/creation.h"
#include "groove/ops/index.h"
#include "groove/ops/math.h"
#include "groove/ops/views.h"
#include "src/core/check.h"
#include "src/core/tensor_impl.h"
#include "src/io/pickle.h"

namespace groove::serialize {
namespace {

struct Node {
  enum Kind {
    kMark,
    kNothing,
    kBool,
    kInteger,
    kReal,
    kText,
    kTuple,
    kList,
    kDict,
    kName,
    kCall,
    kStored
  };
  Kind kind = kNothing;
  std::int64_t integer = 0;
  double real = 0;
  std::string text{};          // a name's: "module.name"
  std::vector<Node*> parts{};  // of a dictionary keys and values in turn; of a call what is called
                               // and its arguments; of what is stored its description
};

// Runs the opcodes of protocols 2 to 5, which are named as in Python's pickletools.
class Machine {
 public:
  Machine(std::string_view bytes, const std::string& source) : bytes_(bytes), source_(source) {}

  Node& run() {
    while (true) {
      const auto opcode = number<unsigned char>();
      if (opcode == '.') break;  // STOP
      if (!run_constant(opcode) && !run_text(opcode) && !run_container(opcode) &&
          !run_memory(opcode) && !run_call(opcode))
        fail(fmt::format("has the opcode {:#x}, which Groove does not know", opcode));
    }
    return pop();
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw_error(fmt::format("load: {}: the pickle {} (at byte {})", source_, what, at_));
  }
  std::size_t size() const { return bytes_.size(); }

 private:
  std::string_view take(std::uint64_t size) {
    if (size > bytes_.size() - at_) fail("is cut short");
    const std::string_view piece = bytes_.substr(at_, size);
    at_ += size;
    return piece;
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string line() {
    const std::size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) fail("is cut short");
    std::string text(take(end - at_));
    ++at_;
    return text;
  }

  Node& push(Node::Kind kind) {
    nodes_.push_back({kind});
    stack_.push_back(&nodes_.back());
    return nodes_.back();
  }
  Node& top() {
    if (stack_.empty()) fail("takes a value where there is none");
    return *stack_.back();
  }
  Node& pop() {
    Node& node = top();
    stack_.pop_back();
    return node;
  }
  std::vector<Node*> pop_to_mark() {
    std::size_t at = stack_.size();
    while (at > 0 && stack_[at - 1]->kind != Node::kMark) --at;
    if (at == 0) fail("takes values up to a mark where there is none");
    std::vector<Node*> nodes(stack_.begin() + static_cast<std::ptrdiff_t>(at), stack_.end());
    stack_.resize(at - 1);
    return nodes;
  }
  std::vector<Node*> pop_some(std::size_t count) {
    if (stack_.size() < count) fail("takes a value where there is none");
    std::vector<Node*> nodes(stack_.end() - static_cast<std::ptrdiff_t>(count), stack_.end());
    stack_.resize(stack_.size() - count);
    return nodes;
  }
  void push_tuple(std::vector<Node*> parts) { push(Node::kTuple).parts = std::move(parts); }
  void push_text(std::uint64_t size, Node::Kind kind = Node::kText) {
    const std::string_view text = take(size);
    push(kind).text = text;
  }
  void add(const std::vector<Node*>& nodes, Node::Kind kind) {
    Node& container = top();
    if (container.kind != kind) fail("adds to what is no list or dictionary");
    if (kind == Node::kDict && nodes.size() % 2 != 0) fail("has a key without a value");
    container.parts.insert(container.parts.end(), nodes.begin(), nodes.end());
  }

  bool run_constant(unsigned char opcode) {
    switch (opcode) {
      case 0x80:  // PROTO
        if (number<unsigned char>() > 5) fail("is of a protocol after 5");
        return true;
      case 0x95:  // FRAME
        take(8);
        return true;
      case 'N':
        push(Node::kNothing);
        return true;
      case 0x88:  // NEWTRUE
      case 0x89:  // NEWFALSE
        push(Node::kBool).integer = opcode == 0x88;
        return true;
      case 'J':  // BININT
        push(Node::kInteger).integer = number<std::int32_t>();
        return true;
      case 'K':  // BININT1
        push(Node::kInteger).integer = number<std::uint8_t>();
        return true;
      case 'M':  // BININT2
        push(Node::kInteger).integer = number<std::uint16_t>();
        return true;
      case 0x8a: {  // LONG1: little-endian, two's complement
        const std::string_view digits = take(number<std::uint8_t>());
        if (digits.size() > 8) fail("has an integer of more than 64 bits");
        std::int64_t value =
            digits.empty() || static_cast<signed char>(digits.back()) >= 0 ? 0 : -1;
        std::memcpy(&value, digits.data(), digits.size());
        push(Node::kInteger).integer = value;
        return true;
      }
      case 'G': {  // BINFLOAT: big-endian
        const std::uint64_t bits = __builtin_bswap64(number<std::uint64_t>());
        std::memcpy(&push(Node::kReal).real, &bits, sizeof bits);
        return true;
      }
      default:
        return false;
    }
  }

  bool run_text(unsigned char opcode) {
    switch (opcode) {
      case 'U':   // SHORT_BINSTRING
      case 'C':   // SHORT_BINBYTES
      case 0x8c:  // SHORT_BINUNICODE
        push_text(number<std::uint8_t>());
        return true;
      case 'T':  // BINSTRING
      case 'B':  // BINBYTES
      case 'X':  // BINUNICODE
        push_text(number<std::uint32_t>());
        return true;
      case 0x8d:  // BINUNICODE8
      case 0x8e:  // BINBYTES8
        push_text(number<std::uint64_t>());
        return true;
      default:
        return false;
    }
  }

  bool run_container(unsigned char opcode) {
    switch (opcode) {
      case '(':
        push(Node::kMark);
        return true;
      case '0':  // POP
        pop();
        return true;
      case '1':
        pop_to_mark();
        return true;
      case ')':
        push_tuple({});
        return true;
      case 't':
        push_tuple(pop_to_mark());
        return true;
      case 0x85:  // TUPLE1 …
      case 0x86:
      case 0x87:  // … TUPLE3
        push_tuple(pop_some(opcode - 0x84U));
        return true;
      case ']':
        push(Node::kList);
        return true;
      case '}':
        push(Node::kDict);
        return true;
      case 'a':  // APPEND
        add(pop_some(1), Node::kList);
        return true;
      case 'e':  // APPENDS
        add(pop_to_mark(), Node::kList);
        return true;
      case 's':  // SETITEM
        add(pop_some(2), Node::kDict);
        return true;
      case 'u':  // SETITEMS
        add(pop_to_mark(), Node::kDict);
        return true;
      default:
        return false;
    }
  }

  void get(std::uint64_t index) {
    const auto found = memory_.find(index);
    if (found == memory_.end()) fail(fmt::format("wants value {}, which it has not kept", index));
    stack_.push_back(found->second);
  }
  bool run_memory(unsigned char opcode) {
    switch (opcode) {
      case 'q':  // BINPUT
        memory_[number<std::uint8_t>()] = &top();
        return true;
      case 'r':  // LONG_BINPUT
        memory_[number<std::uint32_t>()] = &top();
        return true;
      case 0x94:  // MEMOIZE
        memory_[memory_.size()] = &top();
        return true;
      case 'h':  // BINGET
        get(number<std::uint8_t>());
        return true;
      case 'j':  // LONG_BINGET
        get(number<std::uint32_t>());
        return true;
      default:
        return false;
    }
  }

  bool run_call(unsigned char opcode) {
    switch (opcode) {
      case 'c': {  // GLOBAL
        const std::string module = line();
        push(Node::kName).text = module + "." + line();
        return true;
      }
      case 0x93: {  // STACK_GLOBAL
        const std::vector<Node*> names = pop_some(2);
        push(Node::kName).text = names[0]->text + "." + names[1]->text;
        return true;
      }
      case 'Q': {  // BINPERSID
        const std::vector<Node*> description = pop_some(1);
        push(Node::kStored).parts = description;
        return true;
      }
      case 'R':     // REDUCE
      case 0x81: {  // NEWOBJ
        const std::vector<Node*> called = pop_some(2);
        const bool makes_dict =
            called[0]->kind == Node::kName && called[0]->text == "collections.OrderedDict";
        Node& made = push(makes_dict ? Node::kDict : Node::kCall);
        if (!makes_dict) made.parts = called;
        return true;
      }
      case 'b':  // BUILD: other members of what is below, which no value here has
        pop();
        top();
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  const std::string& source_;
  std::size_t at_ = 0;
  std::deque<Node> nodes_;
  std::vector<Node*> stack_;
  std::unordered_map<std::uint64_t, Node*> memory_;
};

class Maker {
 public:
  Maker(const Machine& machine, const ReadStorage& read) : machine_(machine), read_(read) {}

  IValue make(const Node& node, int depth = 0) {
    constexpr int kMostDepth = 256;
    constexpr std::size_t kMostForByte = 16, kSome = 1000;
    if (depth > kMostDepth) machine_.fail(fmt::format("nests more than {} values", kMostDepth));
    if (++count_ > kMostForByte * machine_.size() + kSome)
      machine_.fail("repeats values without end");
    switch (node.kind) {
      case Node::kNothing:
        return IValue();
      case Node::kBool:
        return IValue(node.integer != 0);
      case Node::kInteger:
        return IValue(node.integer);
      case Node::kReal:
        return IValue(node.real);
      case Node::kText:
        return IValue(node.text);
      case Node::kTuple:
        return IValue(ivalue::Tuple::create(make_all(node, depth)));
      case Node::kList:
        return IValue(make_all(node, depth));
      case Node::kDict: {
        const GenericDict made;
        for (std::size_t i = 0; i < node.parts.size(); i += 2)
          made.insert_or_assign(make(*node.parts[i], depth + 1),
                                make(*node.parts[i + 1], depth + 1));
        return IValue(made);
      }
      case Node::kCall:
        return call(*node.parts[0], *node.parts[1], depth);
      case Node::kName:
        if (node.text.starts_with("torch.")) return IValue(node.text);  // torch.float32
        refuse(node.text);
      case Node::kMark:
      case Node::kStored:
        break;
    }
    machine_.fail("has a mark or a storage where a value belongs");
  }

 private:
  [[noreturn]] void refuse(const std::string& name) const {
    machine_.fail(
        fmt::format("names {}, which Groove does not run; save tensors, numbers, texts, "
                    "lists and dictionaries of these, as state_dict() gives",
                    name));
  }
  std::vector<IValue> make_all(const Node& node, int depth) {
    std::vector<IValue> all;
    for (const Node* part : node.parts) all.push_back(make(*part, depth + 1));
    return all;
  }
  const Node& argument(const Node& arguments, std::size_t i) const {
    if (arguments.kind != Node::kTuple || i >= arguments.parts.size())
      machine_.fail("calls something with too few arguments");
    return *arguments.parts[i];
  }

  IValue call(const Node& called, const Node& arguments, int depth) {
    if (called.kind != Node::kName) machine_.fail("calls what is no name");
    const std::string& name = called.text;
    if (name == "torch._utils._rebuild_tensor_v2" || name == "torch._utils._rebuild_tensor")
      return rebuild(arguments);
    if (name == "torch._utils._rebuild_parameter") {
      Tensor parameter = make(argument(arguments, 0), depth + 1).toTensor();
      const Node& wants = argument(arguments, 1);
      if (has_slope(parameter)) parameter.requires_grad_(wants.integer != 0);
      return parameter;
    }
    // What LibTorch writes around lists and dictionaries of one type.
    if (name.starts_with("torch.jit._pickle.")) return make(argument(arguments, 0), depth + 1);
    if (name == "torch.Size" || name == "torch.device")
      return make(argument(arguments, 0), depth + 1);
    if (name == "builtins.set" || name == "__builtin__.set")
      return make(argument(arguments, 0), depth + 1);
    refuse(name);
  }

  std::vector<std::int64_t> integers(const Node& node) const {
    constexpr std::size_t kMostAxes = 64;
    std::vector<std::int64_t> all;
    for (const Node* part : node.parts) {
      if (part->kind != Node::kInteger || part->integer < 0)
        machine_.fail("has a tensor whose sizes or strides are no numbers");
      all.push_back(part->integer);
    }
    if (all.size() > kMostAxes) machine_.fail("has a tensor of more than 64 axes");
    return all;
  }

  // (storage, offset, sizes, strides, requires_grad, …), in elements
  Tensor rebuild(const Node& arguments) {
    const Node& stored = argument(arguments, 0);
    if (stored.kind != Node::kStored) machine_.fail("has a tensor without a storage");
    const Tensor storage = content(*stored.parts[0]);
    const std::int64_t first = argument(arguments, 1).integer;
    const std::vector<std::int64_t> sizes = integers(argument(arguments, 2)),
                                    strides = integers(argument(arguments, 3));
    if (sizes.size() != strides.size() || first < 0)
      machine_.fail("has a tensor whose sizes and strides do not fit");
    std::int64_t count = 1, last = first, dense = 1;
    bool fits = true, is_dense = true;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      std::int64_t far = 0;
      fits = fits && !__builtin_mul_overflow(count, sizes[i], &count) &&
             !__builtin_mul_overflow(std::max<std::int64_t>(sizes[i] - 1, 0), strides[i], &far) &&
             !__builtin_add_overflow(last, far, &last);
      is_dense = is_dense && (sizes[i] == 1 || strides[i] == dense);
      dense = count;
    }
    const std::int64_t most = 16 * static_cast<std::int64_t>(machine_.size()) + storage.numel();
    if (!fits || (count > 0 && last >= storage.numel()) || count > most)
      machine_.fail(fmt::format("has a tensor that lies outside of its storage of {} elements",
                                storage.numel()));
    const NoGradGuard no_grad;
    Tensor result;
    if (count == 0)
      result = groove::empty(sizes, storage.scalar_type());
    else if (is_dense)
      result = storage.narrow(0, first, count).view(sizes);
    else
      result = gathered(storage, first, sizes, strides);
    if (is_marked(arguments, "conj")) result = conj(result);
    if (is_marked(arguments, "neg")) result = neg(result);
    if (has_slope(result) && arguments.parts.size() > 4 && argument(arguments, 4).integer != 0)
      result = result.detach().requires_grad_();
    return result;
  }

  static bool has_slope(const Tensor& tensor) {
    return is_floating(tensor.scalar_type()) || tensor.is_complex();
  }

  // Python's torch conjugates and negates when values are read, and saves that it will.
  bool is_marked(const Node& arguments, std::string_view mark) {
    if (arguments.parts.size() <= 6) return false;
    const Node& marks = argument(arguments, 6);
    for (std::size_t i = 0; marks.kind == Node::kDict && i + 1 < marks.parts.size(); i += 2)
      if (marks.parts[i]->text == mark) return marks.parts[i + 1]->integer != 0;
    return false;
  }

  // Elements in row-major order; what several tensors share is each one's own then.
  static Tensor gathered(const Tensor& storage, std::int64_t first,
                         const std::vector<std::int64_t>& sizes,
                         const std::vector<std::int64_t>& strides) {
    Tensor places = full({1}, first, kLong);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      places = add({places.unsqueeze(-1)}, mul(arange(sizes[i], kLong), strides[i])).reshape({-1});
    return index_select(storage, 0, places).view(sizes);
  }

  // ("storage", type, key, device, elements) as one axis; those of one key are one.
  Tensor content(const Node& description) {
    if (description.kind != Node::kTuple || description.parts.size() < 5 ||
        description.parts[1]->kind != Node::kName)
      machine_.fail("describes a storage in a way that Groove does not know");
    const std::string& type = description.parts[1]->text;
    const ScalarType dtype = dtype_of_storage(type.substr(type.rfind('.') + 1));
    if (dtype == ScalarType::Undefined)
      machine_.fail(fmt::format("has a {}, of a dtype that Groove has not", type));
    const std::string& key = description.parts[2]->text;
    const auto found = storages_.find(key);
    if (found != storages_.end() && found->second.scalar_type() == dtype) return found->second;
    const std::string bytes = read_(key);
    const auto element = static_cast<std::size_t>(element_size(dtype));
    if (bytes.size() % element != 0)
      machine_.fail(fmt::format("has a {} of {} bytes", type, bytes.size()));
    const Tensor made = make_empty({static_cast<std::int64_t>(bytes.size() / element)}, dtype);
    if (!bytes.empty()) std::memcpy(made.impl()->data(), bytes.data(), bytes.size());
    if (dtype == kBool)
      for (const char byte : bytes)
        if (byte != 0 && byte != 1) machine_.fail("has a bool that is neither 0 nor 1");
    storages_[key] = made;
    return made;
  }

  const Machine& machine_;
  const ReadStorage& read_;
  std::map<std::string, Tensor> storages_;
  std::size_t count_ = 0;
};

}  // namespace

IValue read_pickle(std::string_view bytes, const std::string& source, const ReadStorage& storage) {
  Machine machine(bytes, source);
  const Node& root = machine.run();
  return Maker(machine, storage).make(root);
}

}  // namespace groove::serialize
