// What is known of documents besides their features: carried by data sets, and by what is kept of a split.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/binary.h"
#include "tunemix/data/query_index.h"
#include "tunemix/data/value_names.h"

namespace tunemix {

// The names of documents (`docid = X` of the comments) in one block of text; empty where a document has none.
class NameTable {
 public:
  void add(std::string_view name) {
    text_.append(name);
    ends_.push_back(text_.size());
  }
  size_t size() const { return ends_.size(); }
  std::string_view operator[](size_t i) const {
    const size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(text_).substr(begin, ends_[i] - begin);
  }
  bool any() const { return !text_.empty(); }

 private:
  std::string text_;
  std::vector<uint64_t> ends_;
};

struct Documents {
  std::vector<int32_t> labels = {};
  QueryIndex queries = {};
  NameTable names = {};  // empty (size 0) where no document has one
  // Of each document its row in the files it was read from, counted over documents from 0, all
  // distinct; empty where the documents are in file order.
  std::vector<uint32_t> source_rows = {};
  // How much each document counts in training, calibration and metrics; empty where all count 1.
  std::vector<float> weights = {};
  ValueNames words = {};  // of their features' values

  size_t size() const { return labels.size(); }
  // Those of the given queries, in the given order; without source rows.
  Documents select_queries(std::span<const size_t> chosen) const;
  // More documents after these, as if their files followed.
  void append(const Documents& more);

  void save(BinaryWriter& out) const;
  static Documents load(BinaryReader& in);
};

}  // namespace tunemix
