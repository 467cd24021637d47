#include "pipeline/stages/source_data.h"

#include <algorithm>
#include <set>

#include "pipeline/stages/data_checks.h"
#include "pipeline/stages/fold_data.h"
#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"

namespace tunemix {

Dataset read_source(const Config& config, size_t features, int labels, const Context& context) {
  LetorOptions options;
  options.max_feature_id = static_cast<size_t>(config.data.max_feature_id);
  options.missing = config.data.missing;
  const std::string files = join(config.data.source.files, ", ");
  const Dataset read = read_letor(paths_of(config, config.data.source.files), options, context);
  if (read.max_label() >= labels)
    throw_input(
        "data.source ({}) has label {} and the folds have labels 0 to {}; set data.labels: {} if that is "
        "right",
        files, read.max_label(), labels - 1, read.max_label() + 1);
  expect_several_labels(read);
  std::vector<std::pair<size_t, size_t>> pairs = config.data.source.feature_pairs();
  const size_t same = config.data.source.features.empty() ? std::min(features, read.features()) : 0;
  for (size_t j = 1; j <= same; ++j) pairs.emplace_back(j, j);
  for (const auto& [from, to] : pairs)
    if (from > read.features() || to > features)
      throw_input("data.source.features has {}:{}; the source has features 1 to {}, the folds 1 to {}", from,
                  to, read.features(), features);
  FloatBuffer values(read.documents() * features);
  context.pool().run(read.queries().size(), [&](size_t q) {
    for (size_t i = read.queries().begin(q); i < read.queries().end(q); ++i) {
      float* to = values.data() + i * features;
      std::fill_n(to, features, 0.0F);
      for (const auto& [from, at] : pairs) to[at - 1] = read.row(i)[from - 1];
    }
  });
  return read.with_features(std::move(values), features);
}

Dataset joined(const Dataset& first, const Dataset& second, double weight) {
  require(first.features() == second.features(), "the sets have other features");
  FloatBuffer values(first.values().size() + second.values().size());
  std::copy(first.values().begin(), first.values().end(), values.data());
  std::copy(second.values().begin(), second.values().end(), values.data() + first.values().size());
  Documents added = second.about();
  added.queries = QueryIndex();
  for (size_t q = 0; q < second.queries().size(); ++q)
    added.queries.add("source/" + second.queries().id(q), second.queries().length(q));
  added.weights.resize(added.size(), 1.0F);
  for (float& of_document : added.weights)
    of_document = static_cast<float>(weight * static_cast<double>(of_document));
  Documents about = first.about();
  about.append(added);
  return Dataset(std::move(values), first.features(), std::move(about));
}

void expect_unseen(const Dataset& source, const Dataset& valid, const Dataset& test, size_t fold,
                   const Context& context) {
  const std::vector<Hash128> contents = query_contents(source, context);
  const std::set<Hash128> known(contents.begin(), contents.end());
  for (const auto& [split, name] : {std::pair{&valid, "validation"}, {&test, "test"}}) {
    size_t shared = 0;
    for (const Hash128& content : query_contents(*split, context))
      shared += content != Hash128{} && known.contains(content) ? 1 : 0;
    if (shared > 0)
      throw_input(
          "fold {}: {} of the {} {} queries are in data.source too, and results on queries that were trained "
          "on say "
          "nothing about new ones; give other files, or set data.allow_overlap: true to run all the same",
          fold + 1, shared, split->queries().size(), name);
  }
}

}  // namespace tunemix
