// fork() while another thread holds a mutex: a child would wait for a thread that it does not have.
#pragma once

#include <pthread.h>

namespace groove {

/// Holds a mutex over each fork(), so that a child finds it free and what it guards whole.
/// `mutex_of`: a lambda without captures that gives the mutex. To be called once for each, before
/// threads may want it; of mutexes that a thread holds at once, first for the one it takes last.
template <typename MutexOf>
bool hold_over_fork([[maybe_unused]] MutexOf mutex_of) {
  pthread_atfork([] { MutexOf()().lock(); }, [] { MutexOf()().unlock(); },
                 [] { MutexOf()().unlock(); });
  return true;
}

}  // namespace groove
