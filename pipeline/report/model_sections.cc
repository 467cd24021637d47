// What the models look at: the share of splits a feature gets, and what the bandit made of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

struct FeatureValue {
  std::string feature;
  double value;
};

// By number, then by what is said of it: 2, 10, 10 (standardised).
struct FeatureOrder {
  bool operator()(const std::string& a, const std::string& b) const {
    const long x = std::strtol(a.c_str(), nullptr, 10), y = std::strtol(b.c_str(), nullptr, 10);
    return x != y ? x < y : a < b;
  }
};

// Greatest value first; equal values by feature.
void sort_by_value(std::vector<FeatureValue>& list) {
  std::stable_sort(list.begin(), list.end(), [](const FeatureValue& a, const FeatureValue& b) {
    return a.value != b.value ? a.value > b.value : FeatureOrder()(a.feature, b.feature);
  });
}

// One column a model, the greatest on top.
std::string top_table(const std::string& caption, const std::vector<std::string>& models,
                      const std::map<std::string, std::vector<FeatureValue>>& values) {
  constexpr size_t kShown = 15;
  size_t rows = 0;
  for (const auto& [model, list] : values) rows = std::max(rows, std::min(kShown, list.size()));
  Table table(caption);
  table.column("#", Align::kText);
  for (const std::string& model : models) table.column(model);
  for (size_t i = 0; i < rows; ++i) {
    table.row().cell(std::to_string(i + 1));
    for (const std::string& model : models) {
      const std::vector<FeatureValue>& list = values.at(model);
      table.cell_html(i < list.size() ? fmt::format("<small>feature {}</small> {}", escape(list[i].feature),
                                                    percent(list[i].value))
                                      : "");
    }
  }
  return table.html();
}

template <typename Item>
std::vector<std::string> models_of(const std::vector<Item>& list) {
  std::vector<std::string> models;
  for (const Item& item : list) add_once(models, item.model);
  return models;
}

// The probabilities of one model: by feature, the (round, probability) pairs in the order of rounds.
using Series = std::map<std::string, std::map<double, double>, FeatureOrder>;

std::vector<FeatureValue> last_values(const Series& series) {
  double last_round = 0;
  for (const auto& [feature, points] : series) last_round = std::max(last_round, points.rbegin()->first);
  std::vector<FeatureValue> last;
  for (const auto& [feature, points] : series)
    if (points.rbegin()->first == last_round) last.push_back({feature, points.rbegin()->second});
  sort_by_value(last);
  return last;
}

// The features that were ever likely, each thinned to a few hundred rounds; the last round always stays.
Json series_chart(const Series& series) {
  constexpr size_t kFeatures = 8, kRounds = 200;
  std::vector<FeatureValue> peaks;
  for (const auto& [feature, points] : series) {
    double peak = 0;
    for (const auto& [round, probability] : points) peak = std::max(peak, probability);
    peaks.push_back({feature, peak});
  }
  sort_by_value(peaks);
  peaks.resize(std::min(kFeatures, peaks.size()));
  Json result = Json::array();
  for (const FeatureValue& peak : peaks) {
    const std::map<double, double>& points = series.at(peak.feature);
    const size_t step = (points.size() + kRounds - 1) / kRounds;
    Json list = Json::array();
    size_t i = 0;
    for (const auto& [round, probability] : points) {
      if (i % step == 0 || i + 1 == points.size()) list.push_back({rounded(round), rounded(probability)});
      ++i;
    }
    result.push_back({{"feature", peak.feature}, {"points", std::move(list)}});
  }
  return result;
}

}  // namespace

Section features_section(const ReportData& data) {
  Section section{"features", "Features", "Features the models use", "", "", nullptr};
  if (data.features.empty()) return section;
  const std::vector<std::string> models = models_of(data.features);
  std::map<std::string, std::vector<FeatureValue>> use;
  for (const FeatureUse& feature : data.features)
    use[feature.model].push_back({feature.feature, feature.use});
  for (const std::string& model : models) sort_by_value(use[model]);

  constexpr size_t kDrawn = 20;
  section.chart_data = Json::array();
  for (const std::string& model : models) {
    Json list = Json::array();
    for (size_t i = 0; i < std::min(kDrawn, use[model].size()); ++i)
      list.push_back({use[model][i].feature, rounded(use[model][i].value)});
    section.chart_data.push_back(
        {{"model", model}, {"features", std::move(list)}, {"of", use[model].size()}});
  }
  section.lead = "The share of all splits (or terms) that a feature got, averaged over folds and bags.";
  section.html =
      chart("features") + numbers_block("Feature use in numbers", top_table("Share of splits", models, use));
  return section;
}

Section bandit_section(const ReportData& data) {
  Section section{"bandit", "Bandit", "What the bandit learned", "", "", nullptr};
  if (data.bandit.empty()) return section;
  const std::vector<std::string> models = models_of(data.bandit);
  std::map<std::string, Series> series;
  for (const BanditPoint& point : data.bandit)
    series[point.model][point.feature][static_cast<double>(point.round)] = point.probability;
  std::map<std::string, std::vector<FeatureValue>> last;
  section.chart_data = Json::array();
  for (const std::string& model : models) {
    last[model] = last_values(series[model]);
    section.chart_data.push_back({{"model", model}, {"series", series_chart(series[model])}});
  }
  section.lead =
      "The probability with which a feature is drawn for the search, round by round; the features that were "
      "ever "
      "likeliest.";
  section.html = chart("bandit") + numbers_block("Probabilities in numbers",
                                                 top_table("Probability after the last round", models, last));
  return section;
}

}  // namespace tunemix::report
