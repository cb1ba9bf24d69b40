// The string stream behind detail::Message.
#include "groove/detail/message.h"

#include <memory>
#include <sstream>

namespace groove::detail {

struct Message::State {
  std::ostringstream out;
};

Message::Message() : state_(std::make_unique<State>()) {}
Message::~Message() = default;
std::ostream& Message::stream() { return state_->out; }
std::string Message::text() const { return state_->out.str(); }

}  // namespace groove::detail
