// Words for the values of features, in formats that have words: a feature's values are then the numbers 0, 1,
// ... of its words.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tunemix/core/binary.h"

namespace tunemix {

// By feature, from 0. Data that is read piece by piece has one list for all pieces, which grows.
class ValueNames {
 public:
  void set(size_t feature, std::vector<std::string> words);  // no two of them the same
  bool empty() const { return words_.empty(); }
  const std::map<size_t, std::vector<std::string>>& all() const { return words_; }
  // Null where the values are numbers.
  const std::vector<std::string>* of(size_t feature) const;
  // The words of data that is put together with this. Throws InputError where a number has two words.
  void join(const ValueNames& more);

  void save(BinaryWriter& out) const;
  static ValueNames load(BinaryReader& in);

 private:
  std::map<size_t, std::vector<std::string>> words_;
};

}  // namespace tunemix
