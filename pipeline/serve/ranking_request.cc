#include "pipeline/serve/ranking_request.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tunemix/data/letor_reader.h"
#include "tunemix/data/missing.h"

namespace tunemix::serve {
namespace {

template <typename... Args>
[[noreturn]] void throw_too_large(fmt::format_string<Args...> format, Args&&... args) {
  throw TooLarge(fmt::format(format, std::forward<Args>(args)...));
}

// Text of a client, as it may be repeated to it.
std::string shown(std::string_view text) {
  constexpr size_t kMost = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kMost)) result += c >= 0x20 && c < 0x7f ? c : '?';
  return result + (text.size() > kMost ? "...'" : "'");
}

void expect_room(size_t documents, size_t features, const RequestLimits& limits) {
  if (documents > limits.documents)
    throw_too_large("the request has more than {} documents, the most that are ranked at once",
                    limits.documents);
  if (features > 0 && documents > limits.values / features)
    throw_too_large("the request has more than {} values ({} documents of {} features)", limits.values,
                    documents, features);
}

// Fills in a data set while the text is read; there is no tree in between, and nothing nests deeper than a
// document's features.
class RequestReader : public nlohmann::json_sax<nlohmann::json> {
 public:
  RequestReader(const BundleInput& expected, const RequestLimits& limits)
      : features_(expected.features),
        feature_names_(expected.names),
        limits_(limits),
        given_in_(expected.features, 0) {
    for (const auto& [name, columns] : expected.scores) scores_.push_back({name, columns});
    for (const size_t feature : expected.categorical) words_[feature];
  }

  RankingRequest finish() {
    if (ids_.empty())
      throw InputError(
          R"(the request has no "documents"; expected {"documents": [{"features": [...]}, ...]})");
    for (size_t q = 0; q < ids_.size(); ++q)
      if (ids_[q].empty()) ids_[q] = std::to_string(q + 1);
    ValueNames words;
    for (auto& [feature, of_feature] : words_) words.set(feature, std::move(of_feature.list));
    FloatBuffer buffer(values_.size());
    std::copy(values_.begin(), values_.end(), buffer.data());
    RankingRequest request{Dataset(std::move(buffer), features_,
                                   {.labels = std::vector<int32_t>(documents_, 0),
                                    .queries = QueryIndex(std::move(offsets_), std::move(ids_)),
                                    .names = any_name_ ? std::move(names_) : NameTable(),
                                    .words = std::move(words)})};
    for (const Scores& given : scores_) {
      ScoreMatrix matrix(documents_, given.columns, given.name);
      std::copy(given.values.begin(), given.values.end(), matrix.values().begin());
      request.scores.emplace(given.name, std::move(matrix));
    }
    return request;
  }

  bool null() override {
    return place_ == Place::kDense || place_ == Place::kSparse ? set_value(kMissing) : unexpected("null");
  }
  bool boolean(bool) override { return unexpected("true or false"); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value), value); }
  bool number_float(number_float_t value, const string_t& text) override { return number(value, text); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool string(string_t& value) override {
    if (place_ == Place::kQuery && key_ == "qid") return set_query_id(value);
    if (place_ == Place::kDocument && key_ == "id") return set_name(value);
    if (place_ == Place::kDense || place_ == Place::kSparse)
      if (const auto words = words_.find(feature()); words != words_.end())
        return set_value(words->second.number(value));
    return unexpected("a string");
  }

  bool start_object(std::size_t) override {
    switch (place_) {
      case Place::kStart:
        place_ = Place::kQuery;  // unless it turns out to hold a list of them
        outermost_ = true;
        begin_query();
        return true;
      case Place::kQueries:
        place_ = Place::kQuery;
        outermost_ = false;
        begin_query();
        return true;
      case Place::kDocuments:
        place_ = Place::kDocument;
        begin_document();
        return true;
      case Place::kDocument:
        if (key_ == "features") {
          begin_features();
          place_ = Place::kSparse;
          return true;
        }
        if (key_ == "scores") {
          place_ = Place::kScores;
          return true;
        }
        [[fallthrough]];
      default:
        return unexpected("an object");
    }
  }

  bool end_object() override {
    switch (place_) {
      case Place::kSparse:
      case Place::kScores:
        place_ = Place::kDocument;
        return true;
      case Place::kDocument:
        if (!has_features_) throw_input("document {} has no \"features\"", documents_ + 1);
        ++documents_;
        expect_scores();
        names_.add(name_);
        any_name_ = any_name_ || !name_.empty();
        place_ = Place::kDocuments;
        return true;
      default:
        if (!any_queries_ || !outermost_) end_query();
        place_ = outermost_ ? Place::kStart : Place::kQueries;
        return true;
    }
  }

  bool start_array(std::size_t) override {
    if (place_ == Place::kQuery && key_ == "queries" && outermost_ && !any_queries_ && !has_documents_ &&
        query_id_.empty()) {
      any_queries_ = true;
      place_ = Place::kQueries;
      return true;
    }
    if (place_ == Place::kQuery && key_ == "documents" && !has_documents_ && !(outermost_ && any_queries_)) {
      has_documents_ = true;
      place_ = Place::kDocuments;
      return true;
    }
    if (place_ == Place::kDocument && key_ == "features") {
      begin_features();
      place_ = Place::kDense;
      return true;
    }
    if (place_ == Place::kScores) {
      place_ = Place::kScoreList;
      return true;
    }
    return unexpected("a list");
  }

  bool end_array() override {
    if (place_ == Place::kScoreList) {
      place_ = Place::kScores;
      return true;
    }
    if (place_ == Place::kDense) {
      if (filled_ != features_)
        throw_input("document {} has {} features; the bundle expects {}", documents_ + 1, filled_, features_);
      place_ = Place::kDocument;
    } else if (place_ == Place::kDocuments) {
      place_ = Place::kQuery;
    } else {  // the list of queries; the object around it is still open
      place_ = Place::kQuery;
      outermost_ = true;
    }
    return true;
  }

  bool key(string_t& name) override {
    key_ = name;
    if (place_ == Place::kSparse) return set_feature(name);
    if (place_ == Place::kScores) return set_score(name);
    const bool known = place_ == Place::kDocument ? name == "id" || name == "features" || name == "scores"
                       : outermost_               ? name == "queries" || name == "qid" || name == "documents"
                                                  : name == "qid" || name == "documents";
    if (!known)
      throw_input("the key {} is not known; expected {}", shown(name),
                  place_ == Place::kDocument ? R"("id", "features" and "scores")"
                  : outermost_               ? R"("queries", or "qid" and "documents")"
                                             : R"("qid" and "documents")");
    const bool alone = place_ == Place::kQuery && outermost_;
    if (alone &&
        (any_queries_ ? name != "queries" : name == "queries" && (has_documents_ || !query_id_.empty())))
      throw InputError(
          R"(the request has "queries" beside "qid" or "documents"; expected "queries", or one query)");
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    constexpr int kOutOfRange = 406;
    if (error.id == kOutOfRange) throw_input("a number before byte {} overflows", position);
    throw_input("the request is not JSON at byte {}", position);
  }

 private:
  enum class Place { kStart, kQueries, kQuery, kDocuments, kDocument, kDense, kSparse, kScores, kScoreList };

  // From elsewhere, of all documents so far.
  struct Scores {
    std::string name;
    size_t columns;
    std::vector<float> values = {};
  };

  // Of a categorical feature. What is left out is 0, and so is "0".
  struct Words {
    std::vector<std::string> list = {"0"};
    std::map<std::string, size_t> numbers = {{"0", 0}};

    float number(const std::string& word) {
      const auto [at, is_new] = numbers.emplace(word, list.size());
      if (is_new) list.push_back(word);
      return static_cast<float>(at->second);
    }
  };

  [[noreturn]] bool unexpected(std::string_view what) const {
    switch (place_) {
      case Place::kStart:
        throw_input("the request is {}; expected an object with \"queries\" or \"documents\"", what);
      case Place::kQueries:
        throw_input("the list of queries has {} in it; expected objects", what);
      case Place::kDocuments:
        throw_input("the list of documents has {} in it; expected objects", what);
      case Place::kDense:
      case Place::kSparse:
        throw_input(
            "the features of document {} have {} in them; expected numbers, or null for a missing one",
            documents_ + 1, what);
      case Place::kScores:
      case Place::kScoreList:
        throw_input("the scores of document {} have {} in them; expected numbers", documents_ + 1, what);
      default:
        throw_input("{} is {} here, or is given twice; it was not expected", shown(key_), what);
    }
  }

  template <typename Text>
  bool number(double value, const Text& text) {
    if (place_ == Place::kDense || place_ == Place::kSparse) return set_number(value);
    if (place_ == Place::kScores || place_ == Place::kScoreList) {
      if (score_->values.size() >= (documents_ + 1) * score_->columns)
        throw_input("document {} has more than {} scores '{}', those of a document", documents_ + 1,
                    score_->columns, score_->name);
      score_->values.push_back(single(value));
      return true;
    }
    if constexpr (std::is_integral_v<Text>) {
      if (place_ == Place::kQuery && key_ == "qid") return set_query_id(std::to_string(text));
      if (place_ == Place::kDocument && key_ == "id") return set_name(std::to_string(text));
    }
    return unexpected("a number");
  }

  bool set_value(float value) {
    if (place_ == Place::kDense && filled_ == features_)
      throw_input("document {} has more than {} features, those of the bundle", documents_ + 1, features_);
    row()[place_ == Place::kDense ? filled_++ : feature_ - 1] = value;
    return true;
  }

  bool set_number(double value) {
    const auto words = words_.find(feature());
    if (words == words_.end()) return set_value(single(value));
    constexpr double kMost = 16777216;  // as in data files
    if (value != std::floor(value) || std::abs(value) > kMost)
      throw_input(
          "document {} has {} for feature {}, which is categorical; expected a word or a whole number",
          documents_ + 1, value, feature() + 1);
    return set_value(words->second.number(fmt::format("{}", static_cast<int64_t>(value))));
  }

  // That comes next, from 0.
  size_t feature() const { return place_ == Place::kDense ? filled_ : feature_ - 1; }

  float single(double value) const {
    const auto result = static_cast<float>(value);
    if (!std::isfinite(result))
      throw_input("document {} has a number that is not a finite 32-bit one", documents_ + 1);
    return result + 0.0F;  // -0 becomes 0
  }

  bool set_feature(const std::string& name) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), feature_);
    if (end != name.data() + name.size() || name.empty()) {
      const std::optional<size_t> named = feature_names_.find(name);
      feature_ = named ? *named + 1 : 0;
    } else if (error != std::errc()) {
      feature_ = 0;
    }
    if (feature_ < 1 || feature_ > features_)
      throw_input("document {} has the feature {}; expected {}a number from 1 to {}", documents_ + 1,
                  shown(name), feature_names_.empty() ? "" : "a name that the bundle knows, or ", features_);
    if (given_in_[feature_ - 1] == documents_ + 1)
      throw_input("document {} has feature {} twice, the second time as {}; expected one value for it",
                  documents_ + 1, feature_, shown(name));
    given_in_[feature_ - 1] = documents_ + 1;
    return true;
  }

  bool set_score(const std::string& name) {
    const auto found =
        std::find_if(scores_.begin(), scores_.end(), [&](const Scores& s) { return s.name == name; });
    if (found == scores_.end())
      throw_input("document {} has the scores {}; the bundle asks for {}", documents_ + 1, shown(name),
                  scores_.empty() ? "none" : shown(scores_.front().name));
    score_ = &*found;
    if (score_->values.size() > documents_ * score_->columns)
      throw_input("document {} has the scores {} twice", documents_ + 1, shown(name));
    return true;
  }
  void expect_scores() const {
    for (const Scores& given : scores_)
      if (given.values.size() != documents_ * given.columns)
        throw_input(
            "document {} has {} of the {} scores '{}' that the bundle asks for; expected \"scores\": {}",
            documents_, given.values.size() - (documents_ - 1) * given.columns, given.columns, given.name,
            given.columns == 1 ? "{\"NAME\": NUMBER}" : "{\"NAME\": [NUMBER, ...]}");
  }

  float* row() { return values_.data() + documents_ * features_; }

  bool set_query_id(const std::string& id) {
    if (!query_id_.empty() || id.empty()) throw InputError("a \"qid\" is empty, or is given twice");
    query_id_ = id;
    return true;
  }
  bool set_name(const std::string& name) {
    if (!name_.empty() || name.empty())
      throw_input("the \"id\" of document {} is empty, or is given twice", documents_ + 1);
    name_ = name;
    return true;
  }

  void begin_query() {
    query_id_.clear();
    has_documents_ = false;
    first_document_ = documents_;
  }
  void end_query() {
    if (documents_ == first_document_)
      throw_input("query {} has no documents; expected \"documents\": [...]", ids_.size() + 1);
    ids_.push_back(query_id_);
    offsets_.push_back(documents_);
  }
  void begin_document() {
    expect_room(documents_ + 1, features_, limits_);
    name_.clear();
    has_features_ = false;
  }
  void begin_features() {
    if (has_features_) throw_input("document {} has its features twice", documents_ + 1);
    has_features_ = true;
    filled_ = 0;
    values_.resize((documents_ + 1) * features_, 0.0F);
  }

  size_t features_;
  const FeatureNames& feature_names_;
  const RequestLimits& limits_;
  std::vector<size_t> given_in_;  // by feature: the last document, from 1, whose object has it
  Place place_ = Place::kStart;
  bool outermost_ = true;     // the query is the request itself, or may still hold the list of queries
  bool any_queries_ = false;  // there is a list of them
  std::string key_;
  std::string query_id_;
  bool has_documents_ = false;
  size_t first_document_ = 0;  // of the query
  std::string name_;
  bool has_features_ = false;
  size_t filled_ = 0;   // of a dense row
  size_t feature_ = 0;  // of a sparse row, from 1
  bool any_name_ = false;
  size_t documents_ = 0;
  std::vector<float> values_;
  std::vector<Scores> scores_;
  Scores* score_ = nullptr;        // whose numbers come
  std::map<size_t, Words> words_;  // of every categorical feature
  NameTable names_;
  std::vector<size_t> offsets_ = {0};
  std::vector<std::string> ids_;
};

}  // namespace

BundleInput BundleInput::of(const Bundle& bundle) {
  BundleInput input{bundle.info().features, bundle.info().feature_names, bundle.external_scores()};
  for (const Categories::Feature& feature : bundle.info().categories.features())
    input.categorical.push_back(feature.number);
  return input;
}

RankingRequest parse_json_request(std::string_view body, const BundleInput& expected,
                                  const RequestLimits& limits) {
  RequestReader reader(expected, limits);
  nlohmann::json::sax_parse(body.begin(), body.end(), &reader);
  return reader.finish();
}

RankingRequest parse_letor_request(std::string_view body, const BundleInput& expected,
                                   const RequestLimits& limits) {
  if (!expected.scores.empty())
    throw_input("the bundle asks for the scores '{}', which LETOR lines have no place for; send JSON",
                expected.scores.begin()->first);
  // Before a line is read: a line of a few bytes is a whole row.
  expect_room(static_cast<size_t>(std::count(body.begin(), body.end(), '\n')), expected.features, limits);
  LetorOptions options;
  options.num_features = expected.features;
  options.max_feature_id = std::max(expected.features, options.max_feature_id);
  options.unlabelled = true;
  const Context context(1);
  Dataset data = parse_letor(body, "request", options, context);
  if (!data.source_rows().empty())
    throw InputError("the lines of a query are not next to each other in the request");
  expect_room(data.documents(), expected.features, limits);
  return {std::move(data)};
}

}  // namespace tunemix::serve
