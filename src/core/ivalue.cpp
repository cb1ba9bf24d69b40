#include "groove/ivalue.h"

#include <unordered_map>

#include "src/core/check.h"

namespace groove {

IValue::IValue() = default;
IValue::IValue(Tensor value) : value_(std::move(value)) {}
IValue::IValue(std::string value) : value_(std::move(value)) {}
IValue::IValue(const char* value) : value_(std::string(value)) {}
IValue::IValue(std::vector<std::int64_t> value) : value_(std::move(value)) {}
IValue::IValue(std::vector<double> value) : value_(std::move(value)) {}
IValue::IValue(std::vector<IValue> value)
    : value_(std::make_shared<std::vector<IValue>>(std::move(value))) {}
IValue::IValue(std::shared_ptr<ivalue::Tuple> value) : value_(std::move(value)) {}
IValue::IValue(std::shared_ptr<detail::DictRows> rows) : value_(std::move(rows)) {}
IValue::IValue(const IValue&) = default;
IValue::IValue(IValue&&) noexcept = default;
IValue& IValue::operator=(const IValue&) = default;
IValue& IValue::operator=(IValue&&) noexcept = default;
IValue::~IValue() = default;

const char* IValue::kind() const {
  static constexpr const char* kNames[] = {"nothing",  "an integer", "a double",    "a bool",
                                           "a tensor", "a string",   "integers",    "doubles",
                                           "a tuple",  "a list",     "a dictionary"};
  return kNames[value_.index()];
}

template <typename T>
const T& IValue::get(const char* wanted) const {
  const T* const value = std::get_if<T>(&value_);
  GROOVE_CHECK(value, "IValue: the value is {}, but {} is asked for", kind(), wanted);
  return *value;
}

std::int64_t IValue::toInt() const { return get<std::int64_t>("an integer"); }
double IValue::toDouble() const { return get<double>("a double"); }
bool IValue::toBool() const { return get<bool>("a bool"); }
const Tensor& IValue::toTensor() const { return get<Tensor>("a tensor"); }
const std::string& IValue::toStringRef() const { return get<std::string>("a string"); }
std::shared_ptr<ivalue::Tuple> IValue::toTuple() const {
  return get<std::shared_ptr<ivalue::Tuple>>("a tuple");
}

std::vector<std::int64_t> IValue::toIntVector() const {
  return holds<List>() ? to<std::vector<std::int64_t>>()
                       : get<std::vector<std::int64_t>>("integers");
}
std::vector<double> IValue::toDoubleVector() const {
  return holds<List>() ? to<std::vector<double>>() : get<std::vector<double>>("doubles");
}
std::vector<Tensor> IValue::toTensorVector() const {
  get<List>("a list of tensors");
  return to<std::vector<Tensor>>();
}

bool IValue::isTensorList() const {
  const List* const list = std::get_if<List>(&value_);
  if (!list || (*list)->empty()) return false;
  for (const IValue& element : **list)
    if (!element.isTensor()) return false;
  return true;
}

std::vector<IValue> IValue::toListRef() const {
  if (const auto* integers = std::get_if<std::vector<std::int64_t>>(&value_))
    return {integers->begin(), integers->end()};
  if (const auto* reals = std::get_if<std::vector<double>>(&value_))
    return {reals->begin(), reals->end()};
  return *get<List>("a list");
}

GenericDict IValue::toGenericDict() const { return GenericDict(*this); }

std::shared_ptr<detail::DictRows> IValue::rows() const {
  return get<std::shared_ptr<detail::DictRows>>("a dictionary");
}

void IValue::append(IValue element) const { get<List>("a list")->push_back(std::move(element)); }

namespace detail {

struct DictRows::Content {
  std::vector<Row> rows;
  std::unordered_map<std::string, std::size_t> places;
};

namespace {

// Keys that are equal and no others have the same text.
std::string text_of(const IValue& key) {
  if (key.isString()) return "s" + key.toStringRef();
  if (key.isInt()) return fmt::format("i{}", key.toInt());
  if (key.isDouble()) return fmt::format("d{}", key.toDouble());
  if (key.isBool()) return key.toBool() ? "btrue" : "bfalse";
  throw_error("Dict: a key must be a string, a number or a bool");
}

}  // namespace

DictRows::DictRows() : content_(std::make_unique<Content>()) {}
DictRows::~DictRows() = default;
std::size_t DictRows::size() const { return content_->rows.size(); }
DictRows::Row& DictRows::row(std::size_t at) { return content_->rows[at]; }

std::size_t DictRows::find(const IValue& key) const {
  const auto found = content_->places.find(text_of(key));
  return found == content_->places.end() ? size() : found->second;
}

std::pair<std::size_t, bool> DictRows::insert(IValue key, IValue value) {
  const auto [place, is_new] = content_->places.emplace(text_of(key), size());
  if (is_new) content_->rows.emplace_back(std::move(key), std::move(value));
  return {place->second, is_new};
}

bool DictRows::erase(const IValue& key) {
  const auto found = content_->places.find(text_of(key));
  if (found == content_->places.end()) return false;
  const std::size_t at = found->second;
  content_->rows.erase(content_->rows.begin() + static_cast<std::ptrdiff_t>(at));
  content_->places.erase(found);
  for (auto& [text, place] : content_->places) place -= place > at ? 1 : 0;
  return true;
}

void DictRows::clear() {
  content_->rows.clear();
  content_->places.clear();
}

void throw_no_key(const IValue& key) {
  throw_error(fmt::format("Dict: there is no key {}", text_of(key).substr(1)));
}

}  // namespace detail
}  // namespace groove
