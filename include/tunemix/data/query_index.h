// Which documents belong to which query: queries are runs of adjacent documents.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tunemix {

class QueryIndex {
 public:
  QueryIndex() : offsets_{0} {}
  // offsets: first document of each query, and n at the end; ids: the qid of each query as the file writes
  // it.
  QueryIndex(std::vector<size_t> offsets, std::vector<std::string> ids);
  // One more query, of so many documents, after those that are there.
  void add(std::string id, size_t documents);
  // The given queries, in the given order.
  QueryIndex select(std::span<const size_t> queries) const;

  size_t size() const { return ids_.size(); }           // number of queries
  size_t documents() const { return offsets_.back(); }  // number of documents
  size_t begin(size_t query) const { return offsets_[query]; }
  size_t end(size_t query) const { return offsets_[query + 1]; }
  size_t length(size_t query) const { return end(query) - begin(query); }
  const std::string& id(size_t query) const { return ids_[query]; }
  const std::vector<size_t>& offsets() const { return offsets_; }
  const std::vector<std::string>& ids() const { return ids_; }

 private:
  std::vector<size_t> offsets_;
  std::vector<std::string> ids_;
};

// What each query counts where its documents have these weights: their mean. Empty for no weights.
std::vector<double> query_weights(const QueryIndex& queries, std::span<const float> weights);

}  // namespace tunemix
