#include "tracer/watch/finder.h"

#include <algorithm>
#include <numeric>

#include "src/core/clock.h"
#include "tracer/thread/beside.h"
#include "tracer/watch/investment.h"

namespace groove::tracer {
namespace {

constexpr std::size_t kMostRepeats = 8;
constexpr std::size_t kLeastTimes = 3;      // less often is no loop
constexpr std::size_t kMostWork = 1 << 22;  // steps over all candidates

// The suffixes of the tokens in order, by doubling the length that is compared: what is in order by
// its first half is put in order by counting, the ones before it being in order by their second.
std::vector<std::size_t> sort_suffixes(const std::vector<std::uint64_t>& tokens) {
  const std::size_t n = tokens.size();
  std::vector<std::size_t> order(n), rank(n), next(n), by_second(n), place(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return tokens[a] < tokens[b]; });
  for (std::size_t i = 1; i < n; ++i)
    rank[order[i]] = rank[order[i - 1]] + (tokens[order[i]] != tokens[order[i - 1]] ? 1 : 0);
  for (std::size_t length = 1; length < n && rank[order[n - 1]] + 1 < n; length *= 2) {
    auto second = by_second.begin();
    for (std::size_t i = n - length; i < n; ++i) *second++ = i;  // these have none
    for (const std::size_t i : order)
      if (i >= length) *second++ = i - length;
    for (std::size_t i = n; i-- > 0;) place[rank[order[i]]] = i;  // the first of each rank
    for (const std::size_t i : by_second) order[place[rank[i]]++] = i;
    const auto is_same = [&](std::size_t a, std::size_t b) {
      const bool has_second = a + length < n && b + length < n;
      return rank[a] == rank[b] && has_second && rank[a + length] == rank[b + length];
    };
    next[order[0]] = 0;
    for (std::size_t i = 1; i < n; ++i)
      next[order[i]] = next[order[i - 1]] + (is_same(order[i - 1], order[i]) ? 0 : 1);
    rank.swap(next);
  }
  return order;
}

// [i]: how many tokens the suffixes order[i] and order[i - 1] have in common.
std::vector<std::size_t> common_lengths(const std::vector<std::uint64_t>& tokens,
                                        const std::vector<std::size_t>& order) {
  const std::size_t n = tokens.size();
  std::vector<std::size_t> rank(n), common(n, 0);
  for (std::size_t i = 0; i < n; ++i) rank[order[i]] = i;
  std::size_t length = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (rank[i] == 0) {
      length = 0;
      continue;
    }
    const std::size_t j = order[rank[i] - 1];
    while (i + length < n && j + length < n && tokens[i + length] == tokens[j + length]) ++length;
    common[rank[i]] = length;
    if (length > 0) --length;
  }
  return common;
}

// Suffixes order[low..high] begin with the same `length` tokens, and no others do.
struct Group {
  std::size_t low, high, length;
};

std::vector<Group> groups_of(const std::vector<std::size_t>& common) {
  std::vector<Group> groups, open;
  for (std::size_t i = 1; i <= common.size(); ++i) {
    const std::size_t length = i < common.size() ? common[i] : 0;
    std::size_t low = i - 1;
    while (!open.empty() && open.back().length > length) {
      open.back().high = i - 1;
      low = open.back().low;
      groups.push_back(open.back());
      open.pop_back();
    }
    if (length > 0 && (open.empty() || open.back().length < length))
      open.push_back({low, 0, length});
  }
  return groups;
}

struct Candidate {
  std::size_t length = 0;
  std::vector<std::size_t> starts;  // in order, not overlapping
  std::size_t covered() const { return length * starts.size(); }
};

// How often its first token came without the rest: whoever waits for the stretch there, waits in
// vain that often.
std::size_t times_astray(const std::vector<std::uint64_t>& tokens, const Candidate& candidate) {
  const std::uint64_t head = tokens[candidate.starts.front()];
  std::size_t astray = 0, from = 0;
  const auto count_until = [&](std::size_t end) {
    for (; from < end; ++from) astray += tokens[from] == head ? 1 : 0;
  };
  for (const std::size_t start : candidate.starts) {
    count_until(start);
    from = start + candidate.length;
  }
  // At the end, the rest may still come.
  count_until(std::max(from, tokens.size() - std::min(tokens.size(), candidate.length)));
  return astray;
}

// Does what was seen end within it? Its other times are followed by one and the same token: nobody
// knows yet how far it goes.
bool may_go_on(const std::vector<std::uint64_t>& tokens, const Candidate& candidate) {
  const auto after = [&](std::size_t start) { return start + candidate.length; };
  if (after(candidate.starts.back()) != tokens.size()) return false;
  const std::uint64_t next = tokens[after(candidate.starts.front())];
  return std::all_of(candidate.starts.begin(), candidate.starts.end() - 1,
                     [&](std::size_t start) { return tokens[after(start)] == next; });
}

constinit std::atomic<std::int64_t> of_a_token{200};  // in nanoseconds, of late

void note_search(const Search& search, std::int64_t nanoseconds) {
  constexpr std::int64_t kMemory = 4;  // searches
  const std::size_t tokens = search.tokens.size();
  investment().spend_searching(nanoseconds - search.price);
  if (tokens == 0) return;
  const std::int64_t known = of_a_token.load(std::memory_order_relaxed);
  of_a_token.store(known + (nanoseconds / static_cast<std::int64_t>(tokens) - known) / kMemory,
                   std::memory_order_relaxed);
}

// Seen by whoever waits for it, found or not.
void end(Search& search) { search.is_done.store(true, std::memory_order_release); }

}  // namespace

std::vector<Repeat> find_repeats(const std::vector<std::uint64_t>& tokens) {
  std::vector<Repeat> found;
  if (tokens.size() < kLeastTimes) return found;
  const std::vector<std::size_t> order = sort_suffixes(tokens);
  std::vector<Candidate> candidates;
  std::size_t work = 0;
  std::vector<Group> groups = groups_of(common_lengths(tokens, order));
  // Where the work is bounded, what may cover most comes first.
  std::sort(groups.begin(), groups.end(), [](const Group& a, const Group& b) {
    const auto most = [](const Group& g) { return g.length * (g.high - g.low + 1); };
    return std::pair{most(b), b.length} < std::pair{most(a), a.length};
  });
  for (const Group& group : groups) {
    const std::size_t times = group.high - group.low + 1;
    // Where it is not long enough for all of them, some begin before others end: see below.
    if (times < kLeastTimes || group.length * times > tokens.size()) continue;
    if ((work += times) > kMostWork) break;
    std::vector<std::size_t> starts(order.begin() + static_cast<std::ptrdiff_t>(group.low),
                                    order.begin() + static_cast<std::ptrdiff_t>(group.high) + 1);
    std::sort(starts.begin(), starts.end());
    // What begins again before it ends is a cycle, of which this is some iterations and a part.
    const auto overlaps = [&](std::size_t start, std::size_t next) {
      return next < start + group.length;
    };
    if (std::adjacent_find(starts.begin(), starts.end(), overlaps) == starts.end())
      candidates.push_back({group.length, std::move(starts)});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair{b.covered(), b.length} < std::pair{a.covered(), a.length};
  });
  std::vector<bool> is_covered(tokens.size());
  for (const Candidate& candidate : candidates) {
    if (found.size() == kMostRepeats) break;
    const auto is_free = [&](std::size_t start) {
      return !is_covered[start] && !is_covered[start + candidate.length - 1];
    };
    const auto times = static_cast<std::size_t>(
        std::count_if(candidate.starts.begin(), candidate.starts.end(), is_free));
    if (times < kLeastTimes || times < times_astray(tokens, candidate)) continue;
    if (may_go_on(tokens, candidate)) continue;
    std::size_t latest = 0;
    for (const std::size_t start : candidate.starts) {
      if (!is_free(start)) continue;
      latest = start;
      for (std::size_t i = 0; i < candidate.length; ++i) is_covered[start + i] = true;
    }
    found.push_back({latest, latest + candidate.length, times});
  }
  return found;
}

std::int64_t price_of_search(std::size_t tokens) {
  return static_cast<std::int64_t>(tokens) * of_a_token.load(std::memory_order_relaxed);
}

void start_search(const std::shared_ptr<Search>& search) {
  investment().spend_searching(search->price);
  const auto find = [search] {
    const std::int64_t start = thread_time();
    search->found = find_repeats(search->tokens);
    note_search(*search, thread_time() - start);
    end(*search);
  };
  run_beside(Task::kSearch, find, [search] { end(*search); });
}

}  // namespace groove::tracer
