#include "pipeline/stages/data_checks.h"

#include <algorithm>
#include <map>
#include <set>

#include "tunemix/metric/policy.h"
#include "tunemix/metric/selection.h"

namespace tunemix {
namespace {

// The same whatever the width of the data set that it was read into.
Hash128 document_content(std::span<const float> features, int32_t label) {
  size_t width = features.size();
  while (width > 0 && features[width - 1] == 0) --width;
  return Hasher().number(static_cast<uint64_t>(label)).values(features.first(width)).digest();
}

Hash128 query_content(const Dataset& data, size_t query) {
  std::vector<Hash128> documents;
  for (size_t i = data.queries().begin(query); i < data.queries().end(query); ++i)
    documents.push_back(document_content(data.row(i), data.labels()[i]));
  std::sort(documents.begin(), documents.end());
  if (documents.front() == documents.back()) return {};
  return Hasher().values(std::span<const Hash128>(documents)).digest();
}

std::span<const uint64_t> documents_of(const SplitInfo& split, size_t query) {
  return std::span(split.document_contents).subspan(split.queries.begin(query), split.queries.length(query));
}

// Queries of `a` that are in `b`: under any id, or, as files that reuse an id make one query of several, as a
// part of the query of the same id.
size_t count_shared(const SplitInfo& a, const SplitInfo& b) {
  const std::set<Hash128> known(b.query_contents.begin(), b.query_contents.end());
  std::map<std::string_view, size_t> by_id;
  for (size_t q = 0; q < b.queries.size(); ++q) by_id[b.queries.id(q)] = q;
  size_t shared = 0;
  for (size_t q = 0; q < a.queries.size(); ++q) {
    if (a.query_contents[q] == Hash128{}) continue;
    bool found = known.contains(a.query_contents[q]);
    if (const auto same = by_id.find(a.queries.id(q)); !found && same != by_id.end()) {
      const auto theirs = documents_of(b, same->second);
      const std::set<uint64_t> of_theirs(theirs.begin(), theirs.end());
      const auto ours = documents_of(a, q);
      found = std::all_of(ours.begin(), ours.end(), [&](uint64_t d) { return of_theirs.contains(d); });
    }
    shared += found ? 1 : 0;
  }
  return shared;
}

std::string all_or_some(size_t shared, size_t queries) {
  return shared == queries ? fmt::format("all {}", queries) : fmt::format("{} of the {}", shared, queries);
}

int largest_label_of(const FoldInfo& info) {
  int largest = 0;
  for (const SplitInfo* split : {&info.valid, &info.test})
    for (const int32_t label : split->labels) largest = std::max(largest, label);
  return largest;
}

std::string files_of(const Config& config, size_t fold, bool test) {
  if (!config.data.given.empty()) return "given";
  if (config.data.folds.empty()) return "generated";
  const FoldFiles& files = config.data.folds[fold];
  if (test) return join(files.test, ", ");
  return files.valid.empty() ? "taken from " + join(files.train, ", ") : join(files.valid, ", ");
}

void expect_preset(const std::string& preset_name, int label, const char* key) {
  const int known = largest_label(preset(preset_name));
  if (label <= known) return;
  std::vector<std::string> others;
  for (const std::string& other : preset_names())
    if (largest_label(preset(other)) >= label) others.push_back(other);
  throw_input("{}: {} has grades for the labels 0 to {} only and the data has label {}; use {}", key,
              preset_name, known, label, join(others, ", "));
}

}  // namespace

std::vector<Hash128> query_contents(const Dataset& data, const Context& context) {
  std::vector<Hash128> contents(data.queries().size());
  context.pool().run(contents.size(), [&](size_t q) { contents[q] = query_content(data, q); });
  return contents;
}

std::vector<uint64_t> document_contents(const Dataset& data, const Context& context) {
  std::vector<uint64_t> contents(data.documents());
  context.pool().run(data.queries().size(), [&](size_t q) {
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i)
      contents[i] = document_content(data.row(i), data.labels()[i]).low;
  });
  return contents;
}

std::vector<std::string> find_overlap(std::span<const FoldInfo* const> folds, bool has_test) {
  std::vector<std::string> found;
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const FoldInfo& info = *folds[fold];
    const auto compare = [&](const SplitInfo& a, const char* a_name, const SplitInfo& b, const char* b_name) {
      if (const size_t shared = count_shared(a, b); shared > 0)
        found.push_back(fmt::format("fold {}: {} {} queries are in the {} data too", fold + 1,
                                    all_or_some(shared, a.queries.size()), a_name, b_name));
    };
    if (has_test) {
      compare(info.test, "test", info.train, "training");
      compare(info.test, "test", info.valid, "validation");
    }
    compare(info.valid, "validation", info.train, "training");
    if (!has_test) continue;
    for (size_t other = 0; other < fold; ++other)
      if (const size_t shared = count_shared(info.test, folds[other]->test); shared > 0)
        found.push_back(fmt::format("fold {}: {} test queries are in the test data of fold {} too", fold + 1,
                                    all_or_some(shared, info.test.queries.size()), other + 1));
  }
  return found;
}

void expect_measurable(const Config& config, size_t fold, const FoldInfo& info) {
  for (const bool test : {false, true}) {
    if (test && !config.data.has_test()) continue;
    const SplitInfo& split = test ? info.test : info.valid;
    if (std::all_of(split.labels.begin(), split.labels.end(), [](int32_t label) { return label == 0; }))
      throw_input(
          "fold {}: no document of the {} data ({}) is relevant: every label is 0, and any ranking would be "
          "as good as any other; expected labels above 0 (to score documents without labels, use tunemix "
          "predict)",
          fold + 1, test ? "test" : "validation", files_of(config, fold, test));
  }
  const int label = largest_label_of(info);
  for (const std::string& tool : config.evaluate.tools) expect_preset(tool, label, "evaluate.tools");
  const SelectionName metric = SelectionName::parse(config.mix.metric);
  if (!metric.preset.empty()) expect_preset(metric.preset, label, "mix.metric");
}

std::vector<std::string> evaluation_tools(const Config& config, const std::vector<FoldInfo>& folds) {
  if (!config.evaluate.tools.empty()) return config.evaluate.tools;
  int label = 0;
  for (const FoldInfo& info : folds) label = std::max(label, largest_label_of(info));
  std::vector<std::string> tools = {"yahoo", "ranklib", "trec"};
  for (const char* tool : {"letor4", "mslr"})
    if (largest_label(preset(tool)) >= label) {
      tools.emplace_back(tool);
      break;
    }
  return tools;
}

}  // namespace tunemix
