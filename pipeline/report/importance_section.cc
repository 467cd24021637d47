// How much the ensemble needs each feature, where `tunemix importance` has found it for the run.
#include <fmt/format.h>

#include <algorithm>

#include "pipeline/report/sections.h"

namespace tunemix::report {

Section importance_section(const Json& data) {
  Section section{"importance", "Importance", "Features the ensemble needs", "", "", nullptr};
  const auto found = data.find("importance");
  if (found == data.end() || !found->is_object()) return section;
  const Json& importance = *found;
  std::vector<const Json*> features = items(importance, "features");
  std::stable_sort(features.begin(), features.end(), [](const Json* a, const Json* b) {
    return number(*a, "loss").value_or(0) > number(*b, "loss").value_or(0);
  });
  constexpr size_t kShown = 30;
  const size_t shown = std::min(kShown, features.size());
  if (shown == 0) return section;
  Table table(shown < features.size() ? fmt::format("The first {} of {} features", shown, features.size())
                                      : "All features");
  table.column("Feature", Align::kText).column("Loss of NDCG@10").column("Std. error");
  for (size_t i = 0; i < shown; ++i)
    table.row()
        .cell(text(*features[i], "name"))
        .cell(fixed(number(*features[i], "loss"), 5))
        .cell(fixed(number(*features[i], "stderr"), 5));
  std::vector<std::string> files;
  for (const Json& file : importance.value("data", Json::array()))
    if (file.is_string()) files.push_back(escape(file.get<std::string>()));
  section.lead = fmt::format(
      "What NDCG@10 (ties averaged; {} as it is, std. error {}) loses when the values of a feature are "
      "shuffled among the documents of each query: the mean over {} shufflings and {} queries of {}, by {}.",
      fixed(number(importance, "ndcg"), 4), fixed(number(importance, "stderr"), 4),
      integer(importance, "repeats"), integer(importance, "queries"), fmt::join(files, ", "),
      escape(text(importance, "ensemble")));
  section.html = table.html();
  return section;
}

}  // namespace tunemix::report
