// How the mixture came about: the choice of c and T, the members and their weights, and their calibration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "pipeline/report/sections.h"

namespace tunemix::report {
namespace {

std::string iterations_text(const Json& object) {
  const std::optional<double> iterations = number(object, "iterations");
  return iterations ? grouped(*iterations) : "–";
}

std::string choice_table(const Json& data, const std::vector<const Json*>& choices) {
  Table table("What was chosen on the validation split, by " + selection_metric(data));
  table.column("Row", Align::kText)
      .column("Fold")
      .column("c")
      .column("T")
      .column("valid " + short_metric(data));
  std::vector<const Json*> sorted = choices;
  std::vector<std::string> order;
  for (const Json* choice : choices)
    if (std::find(order.begin(), order.end(), text(*choice, "row")) == order.end())
      order.push_back(text(*choice, "row"));
  const auto position = [&order](const Json* choice) {
    return std::find(order.begin(), order.end(), text(*choice, "row")) - order.begin();
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const Json* a, const Json* b) { return position(a) < position(b); });
  for (const Json* choice : sorted)
    table.row()
        .cell(text(*choice, "row"))
        .cell(text(*choice, "fold"))
        .cell(compact(number(*choice, "c")))
        .cell(iterations_text(*choice))
        .cell(fixed(number(*choice, "quality"), 4));
  return table.html();
}

struct Mean {
  double sum = 0;
  int count = 0;
  double value() const { return sum / count; }
};

// The surface of one row, averaged over folds: T down, c across, shaded from the lowest to the highest value.
std::string surface_table(const Json& data, const std::vector<const Json*>& cells, const std::string& row) {
  std::map<double, std::map<double, Mean>> grid;  // by T (-1: none), then c
  std::set<double> exponents;
  for (const Json* cell : cells) {
    if (text(*cell, "row") != row) continue;
    const std::optional<double> c = number(*cell, "c"), ndcg = number(*cell, "quality");
    if (!c || !ndcg) continue;
    Mean& mean = grid[number(*cell, "iterations").value_or(-1)][*c];
    mean.sum += *ndcg;
    ++mean.count;
    exponents.insert(*c);
  }
  double low = 1, high = 0;
  for (const auto& [iterations, line] : grid)
    for (const auto& [c, mean] : line) {
      low = std::min(low, mean.value());
      high = std::max(high, mean.value());
    }
  Table table(fmt::format("{}: validation {}, mean over folds", row, selection_metric(data)));
  table.column("T \\ c", Align::kText);
  for (const double c : exponents) table.column(compact(c));
  for (const auto& [iterations, line] : grid) {
    table.row().cell(iterations < 0 ? "–" : grouped(iterations));
    for (const double c : exponents) {
      const auto found = line.find(c);
      if (found == line.end()) {
        table.cell("");
        continue;
      }
      const double shade = high > low ? 100 * (found->second.value() - low) / (high - low) : 50;
      table.cell_html(fmt::format("<span class=\"heat\" style=\"--heat:{:.0f}%\">{}</span>", shade,
                                  fixed(found->second.value(), 4)));
    }
  }
  return table.html();
}

// surfaces = [{row, fold, cells: [[c, T, ndcg], ...]}, ...]
Json surface_chart(const std::vector<const Json*>& cells) {
  Json surfaces = Json::array();
  std::map<std::pair<std::string, int>, size_t> position;
  for (const Json* cell : cells) {
    const std::optional<double> c = number(*cell, "c"), ndcg = number(*cell, "quality");
    if (!c || !ndcg) continue;
    const std::pair key{text(*cell, "row"), integer(*cell, "fold")};
    const auto [found, added] = position.emplace(key, surfaces.size());
    if (added) surfaces.push_back({{"row", key.first}, {"fold", key.second}, {"cells", Json::array()}});
    const std::optional<double> iterations = number(*cell, "iterations");
    surfaces[found->second]["cells"].push_back(
        {rounded(*c), iterations ? Json(rounded(*iterations)) : Json(), rounded(*ndcg)});
  }
  return surfaces;
}

Json choice_chart(const std::vector<const Json*>& choices) {
  Json list = Json::array();
  for (const Json* choice : choices) {
    const std::optional<double> c = number(*choice, "c"), iterations = number(*choice, "iterations");
    if (!c) continue;
    list.push_back({{"row", text(*choice, "row")},
                    {"fold", integer(*choice, "fold")},
                    {"c", rounded(*c)},
                    {"T", iterations ? Json(rounded(*iterations)) : Json()}});
  }
  return list;
}

std::string member_name(const Json& member) {
  std::string name = text(member, "calibration") + " " + text(member, "model");
  if (number(member, "iterations")) name += " T=" + compact(number(member, "iterations"));
  if (number(member, "C")) name += " C=" + compact(number(member, "C"));
  return name;
}

std::string top_members_table(const Json& data, const std::vector<const Json*>& members,
                              const std::vector<size_t>& by_weight) {
  constexpr size_t kShown = 20;
  Table table(fmt::format("The {} members with the greatest weight; validation {}",
                          std::min(kShown, members.size()), selection_metric(data)));
  table.column("Member", Align::kText)
      .column("Kind", Align::kText)
      .column("Fold")
      .column("valid " + short_metric(data));
  table.column("Weight").column("Share of variance");
  for (size_t i = 0; i < std::min(kShown, by_weight.size()); ++i) {
    const Json& member = *members[by_weight[i]];
    table.row()
        .cell(member_name(member))
        .cell(text(member, "family") + " · " + text(member, "kind"))
        .cell(text(member, "fold"))
        .cell(fixed(number(member, "quality"), 4))
        .cell(percent(number(member, "weight"), 2))
        .cell(percent(number(member, "variance_share"), 2));
  }
  return table.html();
}

// How the mass of the mixture is spread over families and calibrations.
std::string mass_table(const Json& data, const std::vector<const Json*>& members) {
  struct Group {
    Mean ndcg;
    double best = 0, weight = 0, variance = 0;
    size_t count = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  std::set<int> folds;
  for (const Json* member : members) {
    Group& group = groups[{text(*member, "family"), text(*member, "kind"), text(*member, "calibration")}];
    ++group.count;
    folds.insert(integer(*member, "fold"));
    group.weight += number(*member, "weight").value_or(0);
    group.variance += number(*member, "variance_share").value_or(0);
    if (const std::optional<double> ndcg = number(*member, "quality")) {
      group.ndcg.sum += *ndcg;
      ++group.ndcg.count;
      group.best = std::max(group.best, *ndcg);
    }
  }
  const double num_folds = static_cast<double>(folds.size());
  Table table(fmt::format("Weight by calibration, mean over folds; validation {}", selection_metric(data)));
  table.column("Calibration", Align::kText).column("Family", Align::kText).column("Members");
  table.column("mean " + short_metric(data))
      .column("best " + short_metric(data))
      .column("Weight")
      .column("Share of variance");
  for (const auto& [key, group] : groups) {
    const auto& [family, kind, calibration] = key;
    const bool measured = group.ndcg.count > 0;
    table.row()
        .cell(calibration)
        .cell(family)
        .cell(grouped(static_cast<double>(group.count)))
        .cell(measured ? fixed(group.ndcg.value(), 4) : "–")
        .cell(measured ? fixed(group.best, 4) : "–")
        .cell(percent(group.weight / num_folds, 1))
        .cell(percent(group.variance / num_folds, 1));
  }
  return table.html();
}

// Which members the scatter shows: the heaviest, and every n-th of the others in order of weight.
std::vector<size_t> drawn_members(const std::vector<size_t>& by_weight) {
  constexpr size_t kHeaviest = 2000, kOthers = 2000;
  if (by_weight.size() <= kHeaviest + kOthers) return by_weight;
  std::vector<size_t> drawn(by_weight.begin(), by_weight.begin() + kHeaviest);
  const size_t others = by_weight.size() - kHeaviest;
  for (size_t i = 0; i < kOthers; ++i) drawn.push_back(by_weight[kHeaviest + i * others / kOthers]);
  return drawn;
}

// Strings become positions in a list: the same few names would otherwise be repeated thousands of times.
class Dictionary {
 public:
  size_t operator()(const std::string& word) {
    const auto [found, added] = position_.emplace(word, words_.size());
    if (added) words_.push_back(word);
    return found->second;
  }
  const std::vector<std::string>& words() const { return words_; }

 private:
  std::map<std::string, size_t> position_;
  std::vector<std::string> words_;
};

Json member_chart(const std::vector<const Json*>& members, const std::vector<size_t>& drawn) {
  Dictionary names, groups;
  Json points = Json::array();
  for (const size_t i : drawn) {
    const Json& member = *members[i];
    const std::optional<double> ndcg = number(member, "quality"), weight = number(member, "weight");
    if (!ndcg || !weight) continue;
    points.push_back({integer(member, "fold"), groups(text(member, "family")), groups(text(member, "kind")),
                      names(member_name(member)), rounded(*ndcg), rounded(*weight),
                      rounded(number(member, "variance_share").value_or(0))});
  }
  return {{"names", names.words()}, {"groups", groups.words()}, {"points", std::move(points)}};
}

std::string reliability_table(const std::vector<const Json*>& curves) {
  Table table("Log loss and expected calibration error (ECE) on the held-out documents");
  table.column("Member", Align::kText).column("Fold").column("Log loss").column("ECE");
  for (const Json* curve : curves)
    table.row()
        .cell(text(*curve, "member"))
        .cell(text(*curve, "fold"))
        .cell(fixed(number(*curve, "log_loss"), 4))
        .cell(fixed(number(*curve, "ece"), 4));
  return table.html();
}

std::string reliability_points_table(const std::vector<const Json*>& curves) {
  constexpr size_t kMaxRows = 2000;
  Table table("Mean prediction and what was observed, bin by bin");
  table.column("Member", Align::kText)
      .column("Fold")
      .column("Predicted")
      .column("Observed")
      .column("Documents");
  size_t rows = 0, left_out = 0;
  for (const Json* curve : curves) {
    for (const Json* point : items(*curve, "curve")) {
      if (++rows > kMaxRows) {
        ++left_out;
        continue;
      }
      table.row()
          .cell(text(*curve, "member"))
          .cell(text(*curve, "fold"))
          .cell(fixed(number(*point, "predicted"), 3))
          .cell(fixed(number(*point, "observed"), 3))
          .cell(grouped(number(*point, "count").value_or(0)));
    }
  }
  return table.html() + (left_out > 0 ? fmt::format("<p class=\"small\">{} more are left out.</p>\n",
                                                    plural(left_out, "bin"))
                                      : "");
}

// The number of each family's colour, from 1: that of its rows where it has some.
Json family_colours(const Json& data, const Results& results, const std::vector<const Json*>& members) {
  Json colours = Json::object();
  std::map<std::string, std::string> prefixes;
  for (const Json* family : items(data, "families")) prefixes[text(*family, "family")] = text(*family, "row");
  const std::vector<std::string>& rows = results.families();
  for (const Json* member : members) {
    const std::string family = text(*member, "family");
    if (colours.contains(family)) continue;
    const auto prefix = prefixes.find(family);
    const auto found =
        std::find(rows.begin(), rows.end(), prefix == prefixes.end() ? family : prefix->second);
    const size_t position =
        found != rows.end() ? static_cast<size_t>(found - rows.begin()) : rows.size() + colours.size();
    colours[family] = position % kFamilyColours + 1;
  }
  return colours;
}

// The mass of every family, fold by fold, and the members that were left out as copies.
std::string family_table(const Json& data, const Results& results) {
  const std::vector<const Json*> families = items(data, "families");
  if (families.empty()) return "";
  std::vector<std::string> order;
  std::set<int> folds;
  std::map<std::pair<std::string, int>, const Json*> cells;
  for (const Json* family : families) {
    const std::string name = text(*family, "family");
    if (std::find(order.begin(), order.end(), name) == order.end()) order.push_back(name);
    folds.insert(integer(*family, "fold"));
    cells[{name, integer(*family, "fold")}] = family;
  }
  Table table("Share of each family in the mixture, fold by fold");
  table.column("Family", Align::kText).column("Members");
  for (const int fold : folds) table.column(fmt::format("Fold {}", fold));
  for (const std::string& name : order) {
    double members = 0;
    std::string row;
    for (const int fold : folds)
      if (const auto found = cells.find({name, fold}); found != cells.end()) {
        members += number(*found->second, "members").value_or(0);
        row = text(*found->second, "row");
      }
    table.row().cell_html(
        fmt::format("<span class=\"swatch {}\"></span>{}", results.family_class(row), escape(name)));
    table.cell(grouped(members));
    for (const int fold : folds) {
      const auto found = cells.find({name, fold});
      table.cell(found == cells.end() ? "–" : percent(number(*found->second, "mass"), 1));
    }
  }
  const double copies = number(data, "left_out").value_or(0);
  return table.html() +
         (copies > 0
              ? fmt::format("<p class=\"small\">{} more rank all documents exactly as another does, and are "
                            "left out.</p>\n",
                            plural(static_cast<size_t>(copies), "member"))
              : "");
}

Json reliability_chart(const std::vector<const Json*>& curves) {
  Json list = Json::array();
  for (const Json* curve : curves) {
    Json points = Json::array();
    for (const Json* point : items(*curve, "curve")) {
      const std::optional<double> predicted = number(*point, "predicted"),
                                  observed = number(*point, "observed");
      if (predicted && observed)
        points.push_back({rounded(*predicted), rounded(*observed), number(*point, "count").value_or(0)});
    }
    list.push_back({{"fold", integer(*curve, "fold")},
                    {"member", text(*curve, "member")},
                    {"ece", fixed(number(*curve, "ece"), 3)},
                    {"grades", curve->value("grades", Json(true)) == Json(true)},
                    {"points", std::move(points)}});
  }
  return list;
}

}  // namespace

std::string short_metric(const Json& data) {
  const std::string metric = text(data, "metric");
  return metric.empty() ? "quality" : metric;
}

std::string selection_metric(const Json& data) { return short_metric(data) + ", ties averaged"; }

Section choices_section(const Json& data, const Results& results) {
  Section section{"choices", "Choices", "How sharp the weights, how long the boosting", "", "", nullptr};
  const std::vector<const Json*> choices = items(data, "choices"), surface = items(data, "surface");
  if (choices.empty() && surface.empty()) return section;
  section.lead = fmt::format(
      "A member's weight is exp(c · ω), ω being its own validation {}: c = 0 averages, a large c picks the "
      "best. "
      "c and the number of boosting rounds T are chosen together by the mixture's validation {}.",
      escape(short_metric(data)), escape(selection_metric(data)));
  if (!surface.empty()) {
    section.chart_data = {{"surfaces", surface_chart(surface)},
                          {"choices", choice_chart(choices)},
                          {"metric", selection_metric(data)}};
    section.html += chart("surface");
    const ResultRow* headline = results.headline();
    const bool has_headline =
        headline != nullptr && std::any_of(surface.begin(), surface.end(), [headline](const Json* cell) {
          return text(*cell, "row") == headline->name;
        });
    const std::string row = has_headline ? headline->name : text(*surface.front(), "row");
    section.chart_data["row"] = row;
    section.html += numbers_block("The surface in numbers", surface_table(data, surface, row));
  }
  if (!choices.empty())
    section.html += numbers_block("What was chosen in every fold", choice_table(data, choices));
  return section;
}

Section members_section(const Json& data, const Results& results) {
  Section section{"members", "Members", "Members of the mixture", "", "", nullptr};
  const std::vector<const Json*> members = items(data, "members");
  if (members.empty()) return section;
  std::vector<double> weights;
  for (const Json* member : members) weights.push_back(number(*member, "weight").value_or(0));
  std::vector<size_t> by_weight(members.size());
  std::iota(by_weight.begin(), by_weight.end(), size_t{0});
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](size_t a, size_t b) { return weights[a] > weights[b]; });
  const std::vector<size_t> drawn = drawn_members(by_weight);
  section.lead = fmt::format(
      "A member is a model at one point of its training (a number of rounds, a value of C) with one "
      "calibration. {} "
      "in all folds together{}.",
      plural(members.size(), "member"),
      drawn.size() < members.size()
          ? fmt::format("; the chart shows {} of them: the heaviest, and an even sample of the rest",
                        grouped(static_cast<double>(drawn.size())))
          : "");
  section.chart_data = member_chart(members, drawn);
  section.chart_data["metric"] = selection_metric(data);
  section.chart_data["colours"] = family_colours(data, results, members);
  section.html = family_table(data, results) + chart("members") +
                 numbers_block("Weight by calibration", mass_table(data, members)) +
                 numbers_block("The heaviest members", top_members_table(data, members, by_weight));
  return section;
}

Section reliability_section(const Json& data) {
  Section section{"reliability", "Reliability", "Can the scores be taken at their word?", "", "", nullptr};
  const std::vector<const Json*> curves = items(data, "reliability");
  if (curves.empty()) return section;
  section.lead =
      "What a member predicted against what was observed, in bins of equal prediction; the area of a dot "
      "grows with "
      "the documents in it. On the dashed line a prediction means what it says; there is none for scores "
      "that only rank (the mixture, and "
      "members that regress the grade over the query's ideal DCG).";
  section.chart_data = reliability_chart(curves);
  section.html = "<div class=\"grid\" data-grid=\"reliability\"></div>\n" +
                 numbers_block("Log loss and calibration error", reliability_table(curves)) +
                 numbers_block("The bins in numbers", reliability_points_table(curves));
  return section;
}

}  // namespace tunemix::report
