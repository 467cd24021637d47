// Words for the values of features, in formats that have words: a feature's values are then the numbers 0, 1,
// ... of its words.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tunemix/core/binary.h"

namespace tunemix {

// By feature, from 0. Data that is read piece by piece has one list for all pieces, which grows. A copy
// shares the words.
class ValueNames {
 public:
  using Words = std::vector<std::string>;

  void set(size_t feature, Words words);  // no two of them the same
  const std::map<size_t, std::shared_ptr<const Words>>& all() const { return words_; }
  // Null where the values are numbers.
  const Words* of(size_t feature) const;
  // The words of this data and of more. Throws InputError where a number has another word there, or none.
  void join(const ValueNames& more);

  void save(BinaryWriter& out) const;
  static ValueNames load(BinaryReader& in);

 private:
  std::map<size_t, std::shared_ptr<const Words>> words_;
};

}  // namespace tunemix
