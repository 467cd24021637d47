#include "tunemix/data/documents.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>
#include <set>

namespace tunemix {
namespace {

// The values of the documents of some queries; nothing of nothing.
template <typename T>
std::vector<T> select_values(const std::vector<T>& values, const QueryIndex& queries,
                             std::span<const size_t> chosen) {
  std::vector<T> result;
  for (const size_t q : chosen)
    if (!values.empty())
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(queries.begin(q)), queries.length(q),
                  std::back_inserter(result));
  return result;
}

}  // namespace

Documents Documents::select_queries(std::span<const size_t> chosen) const {
  Documents result{.labels = select_values(labels, queries, chosen),
                   .queries = queries.select(chosen),
                   .weights = select_values(weights, queries, chosen),
                   .words = words};
  for (const size_t q : chosen)
    for (size_t i = queries.begin(q); i < queries.end(q) && names.size() > 0; ++i) result.names.add(names[i]);
  return result;
}

void Documents::append(const Documents& more) {
  const size_t before = size();
  if (before == 0)
    words = more.words;
  else
    words.join(more.words);
  const size_t all = before + more.size();
  labels.insert(labels.end(), more.labels.begin(), more.labels.end());
  for (size_t q = 0; q < more.queries.size(); ++q) queries.add(more.queries.id(q), more.queries.length(q));
  if (names.size() > 0 || more.names.size() > 0) {
    while (names.size() < before) names.add("");
    for (size_t i = 0; i < more.names.size(); ++i) names.add(more.names[i]);
    while (names.size() < all) names.add("");
  }
  if (!source_rows.empty() || !more.source_rows.empty()) {
    if (source_rows.empty()) {
      source_rows.resize(before);
      std::iota(source_rows.begin(), source_rows.end(), 0U);
    }
    for (size_t i = 0; i < more.size(); ++i)
      source_rows.push_back(
          static_cast<uint32_t>(before + (more.source_rows.empty() ? i : more.source_rows[i])));
  }
  if (!weights.empty() || !more.weights.empty()) {
    weights.resize(before, 1.0F);
    weights.insert(weights.end(), more.weights.begin(), more.weights.end());
    weights.resize(all, 1.0F);
  }
}

void Documents::save(BinaryWriter& out) const {
  out.put(labels);
  out.put(std::vector<uint64_t>(queries.offsets().begin(), queries.offsets().end()));
  for (const std::string& id : queries.ids()) out.put(id);
  out.put<uint8_t>(names.size() > 0);
  for (size_t i = 0; i < names.size(); ++i) out.put(names[i]);
  out.put(source_rows);
  out.put(weights);
  words.save(out);
}

Documents Documents::load(BinaryReader& in) {
  Documents result;
  result.labels = in.get_vector<int32_t>();
  for (const int32_t label : result.labels)
    if (label < 0) in.fail("a label is negative");
  const auto offsets = in.get_vector<uint64_t>();
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != result.size() ||
      std::adjacent_find(offsets.begin(), offsets.end(), std::greater_equal<>()) != offsets.end())
    in.fail("the queries do not fit the documents");
  std::vector<std::string> ids;
  for (size_t q = 0; q + 1 < offsets.size(); ++q) ids.push_back(in.get_string());
  result.queries = QueryIndex({offsets.begin(), offsets.end()}, std::move(ids));
  if (in.get<uint8_t>() != 0)
    for (size_t i = 0; i < result.size(); ++i) result.names.add(in.get_string());
  result.source_rows = in.get_vector<uint32_t>();
  const std::set<uint32_t> distinct(result.source_rows.begin(), result.source_rows.end());
  if (distinct.size() != result.source_rows.size() || (!distinct.empty() && distinct.size() != result.size()))
    in.fail("the rows of the documents do not fit them");
  result.weights = in.get_vector<float>();
  if (!result.weights.empty() && result.weights.size() != result.size())
    in.fail("the weights do not fit the documents");
  for (const float weight : result.weights)
    if (!(weight >= 0) || !std::isfinite(weight)) in.fail("a weight is out of range");
  result.words = ValueNames::load(in);
  return result;
}

}  // namespace tunemix
