#include "metric/ranked_labels.h"

#include <algorithm>

namespace tunemix {
namespace {

// Calls body(begin, end) for each group of tied documents from the top while it returns true.
template <typename Body>
void for_each_group(const RankedLabels& ranked, Body body) {
  if (ranked.group_ends.empty()) {
    for (size_t i = 0; i < ranked.size(); ++i)
      if (!body(i, i + 1)) return;
    return;
  }
  size_t begin = 0;
  for (const uint32_t end : ranked.group_ends) {
    if (!body(begin, size_t{end})) return;
    begin = end;
  }
}

double count_relevant(const RankedLabels& ranked, size_t begin, size_t end, int relevant_from) {
  size_t count = 0;
  for (size_t i = begin; i < end; ++i) count += ranked.labels[i] >= relevant_from ? 1 : 0;
  return static_cast<double>(count);
}

double number(size_t value) { return static_cast<double>(value); }

}  // namespace

void gains_by_rank(const RankedLabels& ranked, std::span<const double> gains, std::vector<double>& out) {
  out.resize(ranked.size());
  for (size_t i = 0; i < ranked.size(); ++i) out[i] = gains[static_cast<size_t>(ranked.labels[i])];
  size_t begin = 0;
  for (const uint32_t end : ranked.group_ends) {
    if (end - begin > 1) {
      double sum = 0;
      for (size_t i = begin; i < end; ++i) sum += out[i];
      std::fill(out.begin() + begin, out.begin() + end, sum / number(end - begin));
    }
    begin = end;
  }
}

void relevant_by_rank(const RankedLabels& ranked, int relevant_from, std::span<double> out) {
  double before = 0;
  for_each_group(ranked, [&](size_t begin, size_t end) {
    const double relevant = count_relevant(ranked, begin, end, relevant_from);
    for (size_t i = begin; i < std::min(end, out.size()); ++i)
      out[i] = before + relevant * (number(i - begin + 1) / number(end - begin));
    before += relevant;
    return end < out.size();
  });
}

double average_precision(const RankedLabels& ranked, int relevant_from, size_t all_relevant, double empty) {
  double before = 0;  // relevant documents above the group
  double sum = 0;
  for_each_group(ranked, [&](size_t begin, size_t end) {
    const double relevant = count_relevant(ranked, begin, end, relevant_from);
    const double n = number(end - begin);
    if (relevant == 0) return true;
    if (end - begin == 1) {
      sum += (before + 1) / number(end);
    } else {
      // Each rank of the group is relevant with probability relevant/n; given that, each of the j group
      // members above it is with probability (relevant-1)/(n-1).
      for (size_t j = 0; j < end - begin; ++j)
        sum += relevant / n * (before + 1 + number(j) * (relevant - 1) / (n - 1)) / number(begin + j + 1);
    }
    before += relevant;
    return true;
  });
  return all_relevant == 0 ? empty : sum / number(all_relevant);
}

double reciprocal_rank(const RankedLabels& ranked, int relevant_from, size_t cut) {
  double result = 0;
  for_each_group(ranked, [&](size_t begin, size_t end) {
    if (begin >= cut) return false;
    const double relevant = count_relevant(ranked, begin, end, relevant_from);
    if (relevant == 0) return true;
    double none_above = 1;
    for (size_t i = begin; i < std::min(end, cut); ++i) {
      const double hit = relevant / number(end - i);
      result += none_above * hit / number(i + 1);
      if (hit >= 1) break;
      none_above *= 1 - hit;
    }
    return false;
  });
  return result;
}

double expected_reciprocal_rank(const RankedLabels& ranked, std::span<const double> stops, size_t cut,
                                std::vector<double>& scratch) {
  double result = 0;
  double reach = 1;  // the probability to come down to the group
  for_each_group(ranked, [&](size_t begin, size_t end) {
    if (begin >= cut) return false;
    if (end - begin == 1) {
      const double stop = stops[static_cast<size_t>(ranked.labels[begin])];
      if (stop > 0) {
        result += reach * stop / number(end);
        reach *= 1 - stop;
      }
      return true;
    }
    // pass[s]: the probability to pass s documents drawn from the group, which is the mean over its subsets
    // of size s of the product of 1 - stop; built by adding one document at a time.
    const size_t most = std::min(end, cut) - begin;
    std::vector<double>& pass = scratch;
    pass.assign(most + 1, 0.0);
    pass[0] = 1;
    for (size_t t = 1; t <= end - begin; ++t) {
      const double go_on = 1 - stops[static_cast<size_t>(ranked.labels[begin + t - 1])];
      for (size_t s = std::min(t, most); s > 0; --s)
        pass[s] = (number(s) * go_on * pass[s - 1] + number(t - s) * pass[s]) / number(t);
    }
    for (size_t s = 1; s <= most; ++s) result += reach * (pass[s - 1] - pass[s]) / number(begin + s);
    reach *= pass[most];
    return true;
  });
  return result;
}

}  // namespace tunemix
