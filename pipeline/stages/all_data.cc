#include "pipeline/stages/all_data.h"

#include <algorithm>
#include <set>

#include "pipeline/stages/source_data.h"

namespace tunemix {
namespace {

// The queries of a split that are new.
class SeenQueries {
 public:
  std::vector<size_t> take_new(const SplitInfo& split) {
    std::vector<size_t> fresh;
    for (size_t q = 0; q < split.queries.size(); ++q) {
      const Hash128& content = split.query_contents[q];
      const bool is_new =
          content == Hash128{} ? ids_.insert(split.queries.id(q)).second : contents_.insert(content).second;
      if (is_new) fresh.push_back(q);
    }
    return fresh;
  }

 private:
  std::set<Hash128> contents_;
  std::set<std::string> ids_;  // of queries without a content of their own
};

// The queries of a split of a fold that no piece before it has.
struct Piece {
  const SplitInfo& split;
  const Dataset FoldFeatures::*data;
  size_t first_row;  // of the split among all documents of all splits
  std::vector<size_t> queries;
};

// By fold.
std::vector<std::vector<Piece>> find_pieces(const Config& config, std::span<const FoldInfo* const> folds) {
  std::vector<std::vector<Piece>> pieces;
  SeenQueries seen;
  size_t row = 0;
  for (const FoldInfo* fold : folds) {
    std::vector<Piece>& of_fold = pieces.emplace_back();
    const auto add = [&](const SplitInfo& split, const Dataset FoldFeatures::*data) {
      of_fold.push_back({split, data, row, seen.take_new(split)});
      row += split.size();
    };
    add(fold->train, &FoldFeatures::train);
    add(fold->valid, &FoldFeatures::valid);
    if (config.data.has_test()) add(fold->test, &FoldFeatures::test);
  }
  return pieces;
}

}  // namespace

FoldFeatures read_all(const Config& config, std::span<const FoldInfo* const> folds,
                      const ArtifactStore& store, const Context& context) {
  Documents documents;
  std::vector<uint32_t> rows;
  const std::vector<std::vector<Piece>> pieces = find_pieces(config, folds);
  for (const std::vector<Piece>& of_fold : pieces)
    for (const Piece& piece : of_fold) {
      const SplitInfo& split = piece.split;
      documents.append(split.select_queries(piece.queries));
      for (const size_t q : piece.queries)
        for (size_t i = split.queries.begin(q); i < split.queries.end(q); ++i)
          rows.push_back(static_cast<uint32_t>(
              piece.first_row + (split.source_rows.empty() ? i : size_t{split.source_rows[i]})));
    }
  documents.source_rows = std::move(rows);
  size_t width = 0;
  FeatureNames names;
  for (const FoldInfo* fold : folds) {
    width = std::max(width, fold->features);
    if (names.empty()) names = fold->feature_names;
  }
  // A feature that a fold never has is 0 there.
  FloatBuffer features(documents.size() * width);
  float* to = features.data();
  for (size_t fold = 0; fold < folds.size(); ++fold) {
    const FoldFeatures read = read_fold(config, fold, store, context);
    for (const Piece& piece : pieces[fold]) {
      const Dataset& data = read.*piece.data;
      for (const size_t q : piece.queries)
        for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i, to += width) {
          std::copy_n(data.row(i).data(), data.features(), to);
          std::fill(to + data.features(), to + width, 0.0F);
        }
    }
  }
  Dataset all = Dataset(std::move(features), width, std::move(documents)).named(names);
  const Dataset none = all.select_queries({});
  std::optional<Dataset> source;
  if (!config.data.source.files.empty()) source = read_source(config, width, labels_of(config, all), context);
  return {std::move(all), none, none, std::move(source)};
}

}  // namespace tunemix
