#include "tunemix/data/value_names.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace tunemix {
namespace {

bool has_twice(const std::vector<std::string>& words) {
  return std::set<std::string_view>(words.begin(), words.end()).size() < words.size();
}

}  // namespace

void ValueNames::set(size_t feature, Words words) {
  require(!has_twice(words), "a word for two values");
  words_[feature] = std::make_shared<const Words>(std::move(words));
}

const ValueNames::Words* ValueNames::of(size_t feature) const {
  const auto at = words_.find(feature);
  return at == words_.end() ? nullptr : at->second.get();
}

void ValueNames::join(const ValueNames& more) {
  const auto refuse = [](size_t feature) {
    throw_input("the values of feature {} have other words in other parts of the data; expected the same",
                feature + 1);
  };
  for (const auto& [feature, words] : words_)
    if (more.of(feature) == nullptr) refuse(feature);
  for (const auto& [feature, words] : more.words_) {
    const Words* own = of(feature);
    if (own == nullptr ||
        !std::equal(own->begin(),
                    own->begin() + static_cast<std::ptrdiff_t>(std::min(own->size(), words->size())),
                    words->begin()))
      refuse(feature);
    if (words->size() > own->size()) words_[feature] = words;
  }
}

void ValueNames::save(BinaryWriter& out) const {
  out.put<uint64_t>(words_.size());
  for (const auto& [feature, words] : words_) {
    out.put<uint64_t>(feature);
    out.put<uint64_t>(words->size());
    for (const std::string& word : *words) out.put(word);
  }
}

ValueNames ValueNames::load(BinaryReader& in) {
  ValueNames result;
  const size_t count = in.get_count(2 * sizeof(uint64_t));
  for (size_t f = 0; f < count; ++f) {
    const auto feature = in.get<uint64_t>();
    Words words(in.get_count(sizeof(uint64_t)));
    for (std::string& word : words) word = in.get_string();
    if (has_twice(words) || result.of(feature) != nullptr) in.fail("a word stands for two values");
    result.set(feature, std::move(words));
  }
  return result;
}

}  // namespace tunemix
