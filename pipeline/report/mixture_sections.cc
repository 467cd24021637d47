// How the mixture came about: the choice of c and T, the members and their weights, and their calibration.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "pipeline/report/sections.h"
#include "tunemix/metric/selection.h"

namespace tunemix::report {
namespace {

std::string length_text(int64_t iterations) { return iterations > 0 ? grouped(iterations) : "–"; }
Json length_or_null(int64_t iterations) { return iterations > 0 ? Json(iterations) : Json(); }

std::string choice_table(const ReportData& data) {
  Table table("What was chosen on the validation split, by " + selection_metric(data));
  table.column("Row", Align::kText)
      .column("Fold")
      .column("c")
      .column("T")
      .column("valid " + metric_name(data));
  const std::vector<RowChoice>& choices = data.results.evaluation.choices;
  std::vector<std::string> order;
  for (const RowChoice& choice : choices) add_once(order, choice.row);
  for (const std::string& row : order)
    for (const RowChoice& choice : choices)
      if (choice.row == row)
        table.row()
            .cell(row)
            .cell(std::to_string(choice.fold))
            .cell(choice.member.empty() ? compact(choice.c) : "–")
            .cell(length_text(choice.iterations))
            .cell(fixed(choice.quality, 4));
  return table.html();
}

struct Mean {
  double sum = 0;
  int count = 0;
  double value() const { return sum / count; }
};

// The surface of one row, averaged over folds: T down, c across, shaded from the lowest to the highest value.
std::string surface_table(const ReportData& data, const std::string& row) {
  std::map<int64_t, std::map<double, Mean>> grid;  // by T, then c
  std::set<double> exponents;
  for (const SurfacePoint& point : data.surface) {
    if (point.row != row) continue;
    Mean& mean = grid[point.iterations][point.c];
    mean.sum += point.quality;
    ++mean.count;
    exponents.insert(point.c);
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
    table.row().cell(length_text(iterations));
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
Json surface_chart(const std::vector<SurfacePoint>& points) {
  Json surfaces = Json::array();
  std::map<std::pair<std::string, size_t>, size_t> position;
  for (const SurfacePoint& point : points) {
    const auto [found, added] = position.emplace(std::pair(point.row, point.fold), surfaces.size());
    if (added) surfaces.push_back({{"row", point.row}, {"fold", point.fold}, {"cells", Json::array()}});
    surfaces[found->second]["cells"].push_back(
        {rounded(point.c), length_or_null(point.iterations), rounded(point.quality)});
  }
  return surfaces;
}

Json choice_chart(const std::vector<RowChoice>& choices) {
  Json list = Json::array();
  for (const RowChoice& choice : choices)
    if (choice.member.empty())
      list.push_back({{"row", choice.row},
                      {"fold", choice.fold},
                      {"c", rounded(choice.c)},
                      {"T", length_or_null(choice.iterations)}});
  return list;
}

std::string member_title(const ReportMember& member) {
  return member.calibration + " " + member.model +
         (member.iterations > 0 ? fmt::format(" T={}", member.iterations) : "");
}

std::string top_members_table(const ReportData& data, const std::vector<size_t>& by_weight) {
  constexpr size_t kShown = 20;
  const size_t shown = std::min(kShown, by_weight.size());
  Table table(
      fmt::format("The {} members with the greatest weight; validation {}", shown, selection_metric(data)));
  table.column("Member", Align::kText)
      .column("Kind", Align::kText)
      .column("Fold")
      .column("valid " + metric_name(data));
  table.column("Weight").column("Share of variance");
  for (size_t i = 0; i < shown; ++i) {
    const ReportMember& member = data.members[by_weight[i]];
    table.row()
        .cell(member_title(member))
        .cell(member.family + " · " + member.kind)
        .cell(std::to_string(member.fold))
        .cell(fixed(member.quality, 4))
        .cell(percent(member.weight, 2))
        .cell(percent(member.variance_share, 2));
  }
  return table.html();
}

// How the mass of the mixture is spread over families and calibrations.
std::string mass_table(const ReportData& data) {
  struct Group {
    double quality = 0, best = 0, weight = 0, variance = 0;
    int64_t count = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Group> groups;
  std::set<size_t> folds;
  for (const ReportMember& member : data.members) {
    Group& group = groups[{member.family, member.kind, member.calibration}];
    ++group.count;
    folds.insert(member.fold);
    group.weight += member.weight;
    group.variance += member.variance_share;
    group.quality += member.quality;
    group.best = std::max(group.best, member.quality);
  }
  const double num_folds = static_cast<double>(folds.size());
  Table table(fmt::format("Weight by calibration, mean over folds; validation {}", selection_metric(data)));
  table.column("Calibration", Align::kText).column("Family", Align::kText).column("Members");
  table.column("mean " + metric_name(data))
      .column("best " + metric_name(data))
      .column("Weight")
      .column("Share of variance");
  for (const auto& [key, group] : groups) {
    const auto& [family, kind, calibration] = key;
    table.row()
        .cell(calibration)
        .cell(family)
        .cell(grouped(group.count))
        .cell(fixed(group.quality / static_cast<double>(group.count), 4))
        .cell(fixed(group.best, 4))
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

Json member_chart(const std::vector<ReportMember>& members, const std::vector<size_t>& drawn) {
  Dictionary names, groups;
  Json points = Json::array();
  for (const size_t i : drawn) {
    const ReportMember& member = members[i];
    points.push_back({member.fold, groups(member.family), groups(member.kind), names(member_title(member)),
                      rounded(member.quality), rounded(member.weight), rounded(member.variance_share)});
  }
  return {{"names", names.words()}, {"groups", groups.words()}, {"points", std::move(points)}};
}

std::string reliability_table(const std::vector<ReliabilityCurve>& curves) {
  Table table("Log loss and expected calibration error (ECE) on the held-out documents");
  table.column("Member", Align::kText).column("Fold").column("Log loss").column("ECE");
  for (const ReliabilityCurve& curve : curves)
    table.row()
        .cell(curve.member)
        .cell(std::to_string(curve.fold))
        .cell(fixed(curve.reliability.log_loss.value_or(std::nan("")), 4))
        .cell(fixed(curve.reliability.expected_error.value_or(std::nan("")), 4));
  return table.html();
}

std::string reliability_points_table(const std::vector<ReliabilityCurve>& curves) {
  constexpr size_t kMaxRows = 2000;
  Table table("Mean prediction and what was observed, bin by bin");
  table.column("Member", Align::kText)
      .column("Fold")
      .column("Predicted")
      .column("Observed")
      .column("Documents");
  size_t rows = 0;
  for (const ReliabilityCurve& curve : curves)
    for (const ReliabilityBin& bin : curve.reliability.bins)
      if (++rows <= kMaxRows)
        table.row()
            .cell(curve.member)
            .cell(std::to_string(curve.fold))
            .cell(fixed(bin.predicted, 3))
            .cell(fixed(bin.observed, 3))
            .cell(grouped(bin.documents));
  return table.html() + (rows > kMaxRows ? fmt::format("<p class=\"small\">{} more are left out.</p>\n",
                                                       plural(rows - kMaxRows, "bin"))
                                         : "");
}

// The number of each family's colour, from 1: that of its rows where it has some.
Json family_colours(const ReportData& data, const Rows& rows) {
  Json colours = Json::object();
  std::map<std::string, std::string> prefixes;
  for (const FamilyShare& family : data.families) prefixes[family.family] = family.row;
  const std::vector<std::string>& of_rows = rows.families();
  for (const ReportMember& member : data.members) {
    if (colours.contains(member.family)) continue;
    const auto prefix = prefixes.find(member.family);
    const auto found =
        std::find(of_rows.begin(), of_rows.end(), prefix == prefixes.end() ? member.family : prefix->second);
    const size_t position = found != of_rows.end() ? static_cast<size_t>(found - of_rows.begin())
                                                   : of_rows.size() + colours.size();
    colours[member.family] = position % kFamilyColours + 1;
  }
  return colours;
}

// The mass of every family, fold by fold, and the members that were left out as copies.
std::string family_table(const ReportData& data, const Rows& rows) {
  if (data.families.empty()) return "";
  std::vector<std::string> order;
  std::set<size_t> folds;
  std::map<std::pair<std::string, size_t>, const FamilyShare*> cells;
  for (const FamilyShare& family : data.families) {
    add_once(order, family.family);
    folds.insert(family.fold);
    cells[{family.family, family.fold}] = &family;
  }
  Table table("Share of each family in the mixture, fold by fold");
  table.column("Family", Align::kText).column("Members");
  for (const size_t fold : folds) table.column(fmt::format("Fold {}", fold));
  for (const std::string& name : order) {
    size_t members = 0;
    std::string row;
    for (const FamilyShare& family : data.families)
      if (family.family == name) {
        members += family.members;
        row = family.row;
      }
    table.row().cell_html(
        fmt::format("<span class=\"swatch {}\"></span>{}", rows.family_class(row), escape(name)));
    table.cell(grouped(members));
    for (const size_t fold : folds) {
      const auto found = cells.find({name, fold});
      table.cell(found == cells.end() ? "–" : percent(found->second->mass, 1));
    }
  }
  return table.html() +
         (data.left_out > 0
              ? fmt::format("<p class=\"small\">{} more rank all documents exactly as another does, and are "
                            "left out.</p>\n",
                            plural(data.left_out, "member"))
              : "");
}

Json reliability_chart(const std::vector<ReliabilityCurve>& curves) {
  Json list = Json::array();
  for (const ReliabilityCurve& curve : curves) {
    const Reliability& of = curve.reliability;
    Json points = Json::array();
    for (const ReliabilityBin& bin : of.bins)
      points.push_back({rounded(bin.predicted), rounded(bin.observed), bin.documents});
    list.push_back({{"fold", curve.fold},
                    {"member", curve.member},
                    {"ece", fixed(of.expected_error.value_or(std::nan("")), 3)},
                    {"grades", of.expected_error.has_value()},
                    {"points", std::move(points)}});
  }
  return list;
}

}  // namespace

std::string metric_name(const ReportData& data) {
  return SelectionName::parse(data.results.evaluation.metric).label();
}

std::string selection_metric(const ReportData& data) { return metric_name(data) + ", ties averaged"; }

Section choices_section(const ReportData& data, const Rows& rows) {
  Section section{"choices", "Choices", "How sharp the weights, how long the boosting", "", "", nullptr};
  const std::vector<RowChoice>& choices = data.results.evaluation.choices;
  if (choices.empty() && data.surface.empty()) return section;
  section.lead = fmt::format(
      "A member's weight is exp(c · ω), ω being its own validation {}: c = 0 averages, a large c picks the "
      "best. "
      "c and the number of boosting rounds T are chosen together by the mixture's validation {}.",
      escape(metric_name(data)), escape(selection_metric(data)));
  if (!data.surface.empty()) {
    const ResultRow* main = rows.main();
    const bool has_main =
        main != nullptr && std::any_of(data.surface.begin(), data.surface.end(),
                                       [main](const SurfacePoint& point) { return point.row == main->name; });
    const std::string row = has_main ? main->name : data.surface.front().row;
    section.chart_data = {{"surfaces", surface_chart(data.surface)},
                          {"choices", choice_chart(choices)},
                          {"metric", selection_metric(data)},
                          {"row", row}};
    section.html += chart("surface");
    section.html += numbers_block("The surface in numbers", surface_table(data, row));
  }
  if (!choices.empty()) section.html += numbers_block("What was chosen in every fold", choice_table(data));
  return section;
}

Section members_section(const ReportData& data, const Rows& rows) {
  Section section{"members", "Members", "Members of the mixture", "", "", nullptr};
  const std::vector<ReportMember>& members = data.members;
  if (members.empty()) return section;
  std::vector<size_t> by_weight(members.size());
  std::iota(by_weight.begin(), by_weight.end(), size_t{0});
  std::stable_sort(by_weight.begin(), by_weight.end(),
                   [&](size_t a, size_t b) { return members[a].weight > members[b].weight; });
  const std::vector<size_t> drawn = drawn_members(by_weight);
  section.lead = fmt::format(
      "A member is a model at one point of its training (a number of rounds, a value of C) with one "
      "calibration. {} "
      "in all folds together{}.",
      plural(members.size(), "member"),
      drawn.size() < members.size()
          ? fmt::format("; the chart shows {} of them: the heaviest, and an even sample of the rest",
                        grouped(drawn.size()))
          : "");
  section.chart_data = member_chart(members, drawn);
  section.chart_data["metric"] = selection_metric(data);
  section.chart_data["colours"] = family_colours(data, rows);
  section.html = family_table(data, rows) + chart("members") +
                 numbers_block("Weight by calibration", mass_table(data)) +
                 numbers_block("The heaviest members", top_members_table(data, by_weight));
  return section;
}

Section reliability_section(const ReportData& data) {
  Section section{"reliability", "Reliability", "Can the scores be taken at their word?", "", "", nullptr};
  const std::vector<ReliabilityCurve>& curves = data.reliability;
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
