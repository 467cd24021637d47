#include "pipeline/stages/fold_data.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include "pipeline/stages/data_checks.h"
#include "pipeline/stages/source_data.h"
#include "pipeline/stages/stage.h"
#include "tunemix/core/file.h"
#include "tunemix/data/derived.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/missing.h"
#include "tunemix/data/side_files.h"
#include "tunemix/data/synthetic.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

constexpr uint32_t kDataVersion = 3;

FoldFeatures generate_fold(const Config& config, size_t fold, const Context& context) {
  SyntheticOptions options = synthetic_preset(config.data.synthetic.preset);
  if (config.data.synthetic.queries > 0) options.queries = static_cast<size_t>(config.data.synthetic.queries);
  options.seed = derive_seed(config.seed, fmt::format("synthetic/{}", fold));
  const Dataset all = make_synthetic(options, context);
  // 60 / 20 / 20 percent of the queries.
  const size_t queries = all.queries().size();
  if (queries < 5) throw_input("data.synthetic.queries is {}; expected at least 5", queries);
  std::vector<size_t> order(queries);
  std::iota(order.begin(), order.end(), size_t{0});
  const std::span<const size_t> view(order);
  const size_t valid = queries * 3 / 5;
  const size_t test = queries * 4 / 5;
  return {all.select_queries(view.subspan(0, valid)), all.select_queries(view.subspan(valid, test - valid)),
          all.select_queries(view.subspan(test)), std::nullopt};
}

SplitInfo describe(const Dataset& data, const Context& context) {
  return {data.about(), data.fingerprint(), query_contents(data, context), document_contents(data, context)};
}

// A label that training never had cannot be predicted, and a feature that it never had cannot have been
// learnt.
void expect_known(const Config& config, size_t fold, const std::string& files, const char* split,
                  const Dataset& data, const Dataset& train) {
  const int labels = labels_of(config, train);
  if (data.max_label() >= labels)
    throw_input(
        "fold {}: the {} data ({}) has label {} and the largest of the training data is {}; set data.labels: "
        "{} "
        "if that is right",
        fold + 1, split, files, data.max_label(), train.max_label(), data.max_label() + 1);
  const size_t shared = std::min(data.features(), train.features());
  if (!data.feature_names().empty() && !train.feature_names().empty() &&
      data.feature_names().first(shared) != train.feature_names().first(shared))
    throw_input(
        "fold {}: the head of the {} data ({}) has other names of features than that of the training data; "
        "expected the same",
        fold + 1, split, files);
  if (data.features() > train.features() && !config.data.allow_new_features)
    throw_input(
        "fold {}: the {} data ({}) has feature {} and the training data has features 1 to {} only, so that "
        "nothing can be learnt of it; set data.allow_new_features: true if it is 0 there",
        fold + 1, split, files, data.features(), train.features());
}

void save_split(BinaryWriter& out, const SplitInfo& split) {
  split.save(out);
  out.put(split.fingerprint.high);
  out.put(split.fingerprint.low);
  out.put(split.query_contents);
  out.put(split.document_contents);
}

// More would not fit the calibration; the config allows 32.
constexpr int32_t kMostLabels = 32;

SplitInfo load_split(BinaryReader& in, int32_t labels) {
  SplitInfo split{Documents::load(in)};
  for (const int32_t label : split.labels)
    if (label >= labels) in.fail("a label is out of range");
  split.fingerprint.high = in.get<uint64_t>();
  split.fingerprint.low = in.get<uint64_t>();
  split.query_contents = in.get_vector<Hash128>();
  if (split.query_contents.size() != split.queries.size())
    in.fail("the contents of the queries do not fit them");
  split.document_contents = in.get_vector<uint64_t>();
  if (split.document_contents.size() != split.size())
    in.fail("the contents of the documents do not fit them");
  return split;
}

void expect_features(const std::vector<FeatureRange>& ranges, const std::string& key, const std::string& data,
                     size_t features) {
  if (!ranges.empty() && ranges.back().last > features)
    throw_input("{} names feature {}, and {} has features 1 to {}", key, ranges.back().last, data, features);
}

// From 0.
std::vector<uint32_t> numbers_of(const std::vector<FeatureRange>& ranges) {
  std::vector<uint32_t> numbers;
  for (const FeatureRange& range : ranges)
    for (size_t id = range.first; id <= range.last; ++id) numbers.push_back(static_cast<uint32_t>(id - 1));
  return numbers;
}

// Of so many features, the counts of categories last: those that learners see, with the counts of these.
std::vector<uint32_t> chosen_features(const Config& config, size_t width) {
  if (config.data.features.empty()) return numbers_of({{1, width}});
  std::vector<uint32_t> chosen = numbers_of(config.data.features);
  const size_t own = chosen.size();
  const std::vector<uint32_t> categorical = numbers_of(config.data.categorical);
  for (size_t f = 0; f < categorical.size(); ++f)
    if (std::binary_search(chosen.begin(), chosen.begin() + static_cast<ptrdiff_t>(own), categorical[f]))
      chosen.push_back(static_cast<uint32_t>(width - categorical.size() + f));
  return chosen;
}

}  // namespace

int labels_of(const Config& config, const Dataset& train) {
  return config.data.labels > 0 ? config.data.labels : std::max(2, train.max_label() + 1);
}

std::vector<std::filesystem::path> paths_of(const Config& config, const std::vector<std::string>& files) {
  std::vector<std::filesystem::path> paths;
  for (const std::string& file : files) paths.push_back(std::filesystem::path(config.data.root) / file);
  return paths;
}

void hash_files(const Config& config, const std::vector<std::string>& files, ArtifactStore& store,
                MissingFiles missing, Hasher& hasher) {
  hasher.number(files.size());
  for (const auto& path : paths_of(config, files)) {
    if (missing == MissingFiles::kRefuse) expect_readable(path);
    const Hash128 hash = store.file_hash(path, missing);
    hasher.hash(hash);
    // LightGBM's group sizes belong to the content.
    std::filesystem::path groups = group_file_of(path);
    const bool as_remembered = missing == MissingFiles::kPlanned ||
                               (missing == MissingFiles::kRemember && !std::filesystem::exists(path));
    if (missing == MissingFiles::kPlanned) groups.clear();
    if (as_remembered)
      for (const std::filesystem::path& candidate : possible_group_files(path))
        if (groups.empty() && store.remembers(candidate)) groups = candidate;
    if (!groups.empty()) hasher.number(store.file_hash(groups, missing).low);
    // So do the weights.
    std::filesystem::path weights = weight_file_of(path);
    if (missing == MissingFiles::kRemember && !std::filesystem::exists(path))
      for (const std::filesystem::path& candidate : possible_weight_files(path))
        if (weights.empty() && store.remembers(candidate)) weights = candidate;
    if (!weights.empty()) hasher.text("weights").number(store.file_hash(weights, missing).low);
  }
}

Hash128 fold_key(const Config& config, size_t fold, ArtifactStore& store, MissingFiles missing) {
  Hasher hasher;
  hasher.text("data").number(kDataVersion);
  hash_options(Stage::kData, Scope::kEvery, config, hasher);
  // What becomes of categories depends on the grades.
  for (size_t l = 0; l < config.data.grades.size() && !config.data.categorical.empty(); ++l)
    hasher.text(fmt::format("grade {}", config.data.grades[l]));
  if (!config.data.given.empty()) {
    const FoldFeatures& given = *config.data.given[fold];
    hasher.text("given");
    for (const auto* split : {&given.train, &given.valid, &given.test}) hasher.hash(split->fingerprint());
    // No part of a fingerprint, but of what is kept: the same data under other names is known apart.
    const FeatureNames& names = given.train.feature_names();
    for (size_t j = 0; j < names.size(); ++j) hasher.text(names[j]);
  } else if (config.data.folds.empty()) {
    hasher.text("synthetic").number(config.seed).number(fold);
  } else {
    const FoldFiles& files = config.data.folds[fold];
    for (const auto* split : {&files.train, &files.valid, &files.test})
      hash_files(config, *split, store, missing, hasher);
    hash_options(Stage::kData, Scope::kFold, config, hasher, fold);
  }
  return hasher.digest();
}

std::pair<Dataset, Dataset> take_valid(const Dataset& train, const ValidFromTrain& from,
                                       const Context& context) {
  QuerySplit split = split_queries(train.queries(), from.share, Random(from.seed, "validation"));
  const std::vector<Hash128> contents = query_contents(train, context);
  std::set<Hash128> trained;
  for (const size_t q : split.train) trained.insert(contents[q]);
  std::vector<size_t> valid;
  for (const size_t q : split.calibration)
    (contents[q] != Hash128{} && trained.contains(contents[q]) ? split.train : valid).push_back(q);
  if (valid.empty()) throw_input("every query that valid: {{from: train}} takes is a copy of one that stays");
  std::sort(split.train.begin(), split.train.end());
  return {train.select_queries(split.train), train.select_queries(valid)};
}

namespace {

FoldFeatures read_files(const Config& config, size_t fold, const Context& context) {
  const FoldFiles& files = config.data.folds[fold];
  LetorOptions options;
  options.num_labels = config.data.labels;
  options.max_feature_id = static_cast<size_t>(config.data.max_feature_id);
  options.missing = config.data.missing;
  const auto read = [&](const std::vector<std::string>& list) {
    return read_letor(paths_of(config, list), options, context);
  };
  Dataset train = read(files.train);
  expect_several_labels(train);
  std::optional<Dataset> valid;
  if (!files.valid.empty()) {
    valid = read(files.valid);
    expect_known(config, fold, join(files.valid, ", "), "validation", *valid, train);
  }
  std::optional<Dataset> test;
  if (!files.test.empty()) {
    test = read(files.test);
    expect_known(config, fold, join(files.test, ", "), "test", *test, train);
  }
  // A feature that one split never writes is 0 there.
  const size_t widest =
      std::max({train.features(), valid ? valid->features() : 0, test ? test->features() : 0});
  train = widened(train, widest, context);
  if (valid) valid = widened(*valid, widest, context);
  if (test) test = widened(*test, widest, context);
  std::optional<Dataset> source;
  if (!config.data.source.files.empty())
    source = read_source(config, widest, labels_of(config, train), context);
  if (!valid) {
    auto [rest, taken] = take_valid(train, files.valid_from, context);
    train = std::move(rest);
    valid = std::move(taken);
  }
  Dataset judged = test ? std::move(*test) : *valid;
  FoldFeatures result{std::move(train), std::move(*valid), std::move(judged)};
  if (source && !config.data.allow_overlap) expect_unseen(*source, result.valid, result.test, fold, context);
  result.source = std::move(source);
  return result;
}

void expect_no_missing(size_t fold, const char* split, const Dataset& data) {
  const std::span<const float> values = data.values();
  const auto at =
      static_cast<size_t>(std::find_if(values.begin(), values.end(), is_missing) - values.begin());
  if (at < values.size())
    throw_input(
        "fold {}: document {} of the {} data (given) has no value of feature {}, and data.missing is refuse",
        fold + 1, at / data.features() + 1, split, at % data.features() + 1);
}

FoldFeatures given_fold(const Config& config, size_t fold) {
  const FoldFeatures& given = *config.data.given[fold];
  expect_several_labels(given.train);
  if (config.data.labels > 0 && given.train.max_label() >= config.data.labels)
    throw_input("fold {}: the training data (given) has label {}; data.labels is {}, for labels 0 to {}",
                fold + 1, given.train.max_label(), config.data.labels, config.data.labels - 1);
  for (const auto& [split, data] : {std::pair{"validation", &given.valid}, std::pair{"test", &given.test}}) {
    expect_known(config, fold, "given", split, *data, given.train);
    if (data->features() != given.train.features())
      throw_input("fold {}: the {} data has {} features and the training data has {}; expected the same",
                  fold + 1, split, data->features(), given.train.features());
  }
  if (config.data.missing == MissingValues::kRefuse)
    for (const auto& [split, data] : {std::pair{"training", &given.train},
                                      std::pair{"validation", &given.valid}, std::pair{"test", &given.test}})
      expect_no_missing(fold, split, *data);
  return given;
}

}  // namespace

std::vector<std::filesystem::path> content_of(const Config& config, const FoldFiles& files) {
  std::vector<std::filesystem::path> result;
  for (const auto* split : {&files.train, &files.valid, &files.test})
    for (const std::filesystem::path& path : paths_of(config, *split)) {
      result.push_back(path);
      if (const auto groups = group_file_of(path); !groups.empty()) result.push_back(groups);
      if (const auto weights = weight_file_of(path); !weights.empty()) result.push_back(weights);
    }
  return result;
}

FoldFeatures read_fold(const Config& config, size_t fold, const ArtifactStore& store,
                       const Context& context) {
  if (!config.data.given.empty()) return given_fold(config, fold);
  if (config.data.folds.empty()) return generate_fold(config, fold, context);
  std::vector<std::filesystem::path> files = content_of(config, config.data.folds[fold]);
  const std::vector<std::filesystem::path> source = content_of(config, {config.data.source.files, {}, {}});
  files.insert(files.end(), source.begin(), source.end());
  return store.read_as_planned(files, [&] { return read_files(config, fold, context); });
}

PreparedFold::PreparedFold(FoldFeatures features, Standardize mode, SourceUse source_use,
                           double source_weight, std::optional<FeatureMap> feature_map)
    : data(std::move(features)),
      use(source_use),
      training(use == SourceUse::kJoint  ? std::optional(joined(data.train, *data.source, source_weight))
               : use == SourceUse::kOnly ? std::move(data.source)
                                         : std::nullopt),
      bins(training_data(), standardized_features(mode, data.train.features())),
      map(std::move(feature_map)) {
  require(use != SourceUse::kBoth, "a learner trains once");
  data.source.reset();
}

std::vector<size_t> PreparedFold::training_queries(std::span<const size_t> own) const {
  std::vector<size_t> queries;
  if (use != SourceUse::kOnly) queries.assign(own.begin(), own.end());
  // The source's queries come after the fold's.
  const size_t first = use == SourceUse::kOnly ? 0 : data.train.queries().size();
  for (size_t q = first; training && q < training->queries().size(); ++q) queries.push_back(q);
  return queries;
}

bool describes(const FoldInfo& info, const FoldFeatures& features) {
  return info.features == features.train.features() &&
         info.train.fingerprint == features.train.fingerprint() &&
         info.valid.fingerprint == features.valid.fingerprint() &&
         info.test.fingerprint == features.test.fingerprint();
}

FoldInfo describe_fold(const Config& config, const FoldFeatures& features, const Context& context) {
  expect_several_labels(features.train);
  FoldInfo info;
  info.labels = labels_of(config, features.train);
  info.features = features.train.features();
  info.feature_names = features.train.feature_names();
  info.train = describe(features.train, context);
  info.valid = describe(features.valid, context);
  info.test = describe(features.test, context);
  expect_features(config.data.categorical, "data.categorical", "the training data", info.features);
  info.categories =
      Categories::fit(features.train, numbers_of(config.data.categorical), fold_grades(config, info.labels));
  for (const Dataset* split : {&features.train, &features.valid, &features.test})
    info.categories.expect_words(*split);
  return info;
}

std::shared_ptr<const FoldFeatures> with_categories(const Config& config, const FoldInfo& info,
                                                    std::shared_ptr<const FoldFeatures> features) {
  if (info.categories.empty()) return features;
  const auto apply = [&](const Dataset& data) { return info.categories.apply(data); };
  FoldFeatures result{info.categories.apply_apart(features->train, fold_grades(config, info.labels)),
                      apply(features->valid), apply(features->test)};
  if (features->source) result.source = apply(*features->source);
  return std::make_shared<const FoldFeatures>(std::move(result));
}

Standardize bundle_standardize(Standardize mode) {
  return mode == Standardize::kCdf ? Standardize::kNone : mode;
}

void expect_known_parts(const Config& config, size_t fold, const FoldInfo& info) {
  expect_features(config.data.features, "data.features", fmt::format("the data of fold {}", fold + 1),
                  info.features);
  for (const LearnerSpec& spec : config.learners)
    if (spec.labels && spec.labels->labels() != static_cast<size_t>(info.labels))
      throw_input("{}: labels groups the labels 0 to {}, and the data of fold {} has labels 0 to {}",
                  spec.place, spec.labels->labels() - 1, fold + 1, info.labels - 1);
}

void PreparedFold::make_features(const Context& context) const {
  for (const Dataset* split : {&data.train, &data.valid, &data.test}) split->make(context.pool());
}

std::shared_ptr<PreparedFold> prepare_fold(const Config& config, const FoldFeatures& features,
                                           Standardize mode, SourceUse source, const Context& context) {
  const auto each = [](const FoldFeatures& fold, const auto& change) {
    FoldFeatures changed{change(fold.train), change(fold.valid), change(fold.test)};
    if (fold.source) changed.source = change(*fold.source);
    return changed;
  };
  const size_t width = features.train.features();
  const std::vector<uint32_t> kept = chosen_features(config, width);
  const bool all = config.data.features.empty();
  FoldFeatures data = each(features, [&](const Dataset& split) {
    return standardize(all ? split : select_features(split, kept, context), bundle_standardize(mode),
                       context);
  });
  if (all && mode != Standardize::kCdf)
    return std::make_shared<PreparedFold>(std::move(data), mode, source, config.data.source.weight,
                                          std::nullopt);

  FeatureMap map;
  map.inputs = viewed_features(mode, width);
  for (size_t first = 0; first < map.inputs; first += width)
    for (const uint32_t j : kept) map.columns.push_back(static_cast<uint32_t>(first) + j);
  if (mode == Standardize::kCdf) {
    map.cdf = FeatureCdf::fit(data.train, context);
    data = each(data, [&](const Dataset& split) { return map.cdf->apply(split, context); });
  }
  return std::make_shared<PreparedFold>(std::move(data), mode, source, config.data.source.weight,
                                        std::move(map));
}

std::vector<uint8_t> save_fold_info(const FoldInfo& info) {
  BinaryWriter out;
  out.put<int32_t>(info.labels);
  out.put<uint64_t>(info.features);
  info.feature_names.save(out);
  info.categories.save(out);
  for (const SplitInfo* split : {&info.train, &info.valid, &info.test}) save_split(out, *split);
  return {out.bytes().begin(), out.bytes().end()};
}

FoldInfo load_fold_info(std::span<const uint8_t> payload) {
  BinaryReader in(payload, "data artifact");
  FoldInfo info;
  info.labels = in.get<int32_t>();
  info.features = in.get<uint64_t>();
  if (info.labels < 2 || info.labels > kMostLabels) in.fail("the number of labels is out of range");
  if (info.features < 1 || info.features > 100000000) in.fail("the number of features is out of range");
  info.feature_names = FeatureNames::load(in);
  if (info.feature_names.size() > info.features) in.fail("it names more features than there are");
  info.categories = Categories::load(in);
  for (SplitInfo* split : {&info.train, &info.valid, &info.test}) *split = load_split(in, info.labels);
  if (info.train.labels.empty()) in.fail("it has no training data");
  in.expect_end();
  return info;
}

FeatureNames fold_feature_names(const Config& config, const FoldInfo& info) {
  if (config.data.feature_names.empty()) return info.feature_names;
  return read_feature_names(paths_of(config, {config.data.feature_names})[0], info.features);
}

QuerySplit bag_split(const Config& config, const QueryIndex& train, size_t fold, int bag) {
  const size_t queries = train.size();
  if (config.data.calibration_parts == 0) {
    std::vector<size_t> all(queries);
    std::iota(all.begin(), all.end(), size_t{0});
    return {all, all};
  }
  if (queries < 2) throw_input("calibration needs at least 2 training queries; the data has {}", queries);
  const size_t parts = std::min(static_cast<size_t>(config.data.calibration_parts), queries);
  const auto number = static_cast<size_t>(bag);
  return leave_out_part(queries, parts, number % parts,
                        Random(config.seed, fmt::format("calibration/{}/{}", fold, number / parts)));
}

std::vector<size_t> queries_left_out(const Config& config, const QueryIndex& train, size_t fold) {
  int bags = config.learners.empty() ? 0 : config.learners[0].bags;
  for (const LearnerSpec& spec : config.learners) bags = std::min(bags, spec.bags);
  std::set<size_t> queries;
  for (int bag = 0; bag < bags; ++bag) {
    const std::vector<size_t> part = bag_split(config, train, fold, bag).calibration;
    queries.insert(part.begin(), part.end());
  }
  return {queries.begin(), queries.end()};
}

std::vector<double> fold_grades(const Config& config, int labels) {
  if (config.data.grades.empty()) return exponential_grades(labels);
  if (config.data.grades.size() < static_cast<size_t>(labels))
    throw_input("data.grades has {} values; expected one for each of the {} labels",
                config.data.grades.size(), labels);
  return config.data.grades;
}

}  // namespace tunemix
