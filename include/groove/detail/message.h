// Text joined from parts by operator<<, without a string stream in a public header.
#pragma once

#include <ostream>
#include <string>

#include "groove/detail/owned.h"

namespace groove {
namespace detail {

class Message {
 public:
  Message();
  ~Message();
  std::ostream& stream();
  std::string text() const;

 private:
  struct State;
  Owned<State> state_;
};

}  // namespace detail

/// The parts one after the other, as operator<< writes them.
template <typename... Parts>
std::string str(const Parts&... parts) {
  detail::Message message;
  (message.stream() << ... << parts);
  return message.text();
}

}  // namespace groove
