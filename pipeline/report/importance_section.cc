// How much the ensemble needs each feature, where `tunemix importance` has found it for the run.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/report/sections.h"
#include "tunemix/core/text.h"

namespace tunemix::report {

Section importance_section(const ReportData& data) {
  Section section{"importance", "Importance", "Features the ensemble needs", "", "", nullptr};
  if (!data.importance || data.importance->features.empty()) return section;
  const FeatureLosses& importance = *data.importance;
  std::vector<FeatureLosses::Feature> features = importance.features;
  std::stable_sort(features.begin(), features.end(),
                   [](const auto& a, const auto& b) { return a.loss > b.loss; });
  constexpr size_t kShown = 30;
  const size_t shown = std::min(kShown, features.size());
  Table table(shown < features.size() ? fmt::format("The first {} of {} features", shown, features.size())
                                      : "All features");
  table.column("Feature", Align::kText).column("Loss of NDCG@10").column("Std. error");
  for (size_t i = 0; i < shown; ++i)
    table.row()
        .cell(features[i].name)
        .cell(fixed(features[i].loss, 5))
        .cell(fixed(features[i].standard_error, 5));
  section.lead = fmt::format(
      "What NDCG@10 (ties averaged; {} as it is, std. error {}) loses when the values of a feature are "
      "shuffled among the documents of each query: the mean over {} shufflings and {} queries of {}, by {}.",
      fixed(importance.ndcg, 4), fixed(importance.standard_error, 4), importance.repeats, importance.queries,
      escape(join(importance.data, ", ")), escape(importance.ensemble));
  section.html = table.html();
  return section;
}

}  // namespace tunemix::report
