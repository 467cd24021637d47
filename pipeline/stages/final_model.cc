#include "pipeline/stages/final_model.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>

namespace tunemix {
namespace {

// All files of all folds, as read_all() numbers their rows.
FoldFiles files_of_all(const std::vector<FoldFiles>& folds) {
  FoldFiles all;
  for (const FoldFiles& fold : folds)
    for (const auto* split : {&fold.train, &fold.valid, &fold.test})
      all.train.insert(all.train.end(), split->begin(), split->end());
  return all;
}

// The learners of the config that have chosen members, ascending.
std::vector<uint32_t> chosen_learners(const FinalChoice& choice) {
  std::set<uint32_t> learners;
  for (const ChosenMember& member : choice.members) learners.insert(member.learner);
  return {learners.begin(), learners.end()};
}

// As long as its longest chosen point.
LearnerSpec shortened(LearnerSpec spec, std::vector<int64_t> lengths) {
  const OptionInfo* length = spec.learner->length_option();
  if (length == nullptr) return spec;
  std::sort(lengths.begin(), lengths.end());
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  spec.lengths = std::move(lengths);
  for (auto& [key, value] : spec.settings)
    if (key == length->name) value = fmt::format("{}", spec.lengths.back());
  return spec;
}

}  // namespace

Hash128 choice_key(const Plan& plan) {
  Hasher hasher;
  hasher.text("final choice").number(kChoiceVersion);
  for (const Hash128& key : plan.mix_keys) hasher.hash(key);
  return hasher.digest();
}

GridPoint best_of_folds(const std::vector<const MixRow*>& rows) {
  struct Sum {
    double quality = 0;
    size_t folds = 0;
  };
  std::map<std::pair<double, int64_t>, Sum> sums;  // by c, then T: the first of equals is the one to take
  for (const MixRow* row : rows)
    for (const GridPoint& point : row->grid) {
      Sum& sum = sums[{point.c, point.checkpoint}];
      sum.quality += point.quality;
      ++sum.folds;
    }
  std::optional<GridPoint> best;
  for (const auto& [at, sum] : sums)
    if (sum.folds == rows.size() && (!best || sum.quality > best->quality))
      best = {at.first, at.second, sum.quality};
  require(best.has_value(), "the folds have no point of the grid in common");
  best->quality /= static_cast<double>(rows.size());
  return *best;
}

FinalChoice average_mixtures(const GridPoint& at, const std::vector<MixRow>& rows,
                             const std::vector<std::vector<std::vector<CalibratedModel>>>& members) {
  std::map<std::tuple<uint32_t, uint32_t, std::string>, double> weights;
  for (size_t fold = 0; fold < rows.size(); ++fold)
    for (size_t i = 0; i < rows[fold].sources.size(); ++i) {
      const MemberRef& ref = rows[fold].sources[i];
      const CalibratedModel& member = members[fold][ref.learner][ref.member];
      weights[{ref.learner, static_cast<uint32_t>(member.point), member.calibrator.spec().name()}] +=
          rows[fold].mixture.weights()[i];
    }
  FinalChoice choice{at.c, at.checkpoint, {}};
  for (const auto& [id, weight] : weights)
    if (weight > 0)
      choice.members.push_back(
          {std::get<0>(id), std::get<1>(id), std::get<2>(id), weight / static_cast<double>(rows.size())});
  return choice;
}

std::vector<uint8_t> save_choice(const FinalChoice& choice) {
  BinaryWriter out;
  out.put(choice.c);
  out.put(choice.checkpoint);
  out.put<uint64_t>(choice.members.size());
  for (const ChosenMember& member : choice.members) {
    out.put(member.learner);
    out.put(member.point);
    out.put(member.calibration);
    out.put(member.weight);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

FinalChoice load_choice(std::span<const uint8_t> payload, const Plan& plan) {
  BinaryReader in(payload, "the choice of the final model");
  FinalChoice choice;
  choice.c = in.get<double>();
  choice.checkpoint = in.get<int64_t>();
  const size_t count = in.get_count(1);
  for (size_t i = 0; i < count; ++i) {
    ChosenMember member;
    member.learner = in.get<uint32_t>();
    member.point = in.get<uint32_t>();
    member.calibration = in.get_string();
    member.weight = in.get<double>();
    if (member.learner >= plan.config.learners.size() ||
        member.point >= plan.config.learners[member.learner].points().size())
      in.fail("a member is of no learner");
    CalibrationSpec::parse(member.calibration);
    if (!std::isfinite(member.weight) || member.weight <= 0) in.fail("a weight is not a positive number");
    choice.members.push_back(std::move(member));
  }
  in.expect_end();
  if (choice.members.empty()) in.fail("it has no members");
  return choice;
}

Plan plan_final_model(const Plan& folds, const FinalChoice& choice, ArtifactStore& store,
                      MissingFiles missing) {
  Config config = folds.config;
  config.learners.clear();
  for (const uint32_t learner : chosen_learners(choice)) {
    const LearnerSpec& spec = folds.config.learners[learner];
    const std::vector<Point> points = spec.points();
    std::vector<int64_t> lengths;
    for (const ChosenMember& member : choice.members)
      if (member.learner == learner) lengths.push_back(points[member.point].length);
    config.learners.push_back(shortened(spec, std::move(lengths)));
    if (!spec.scores.empty()) config.learners.back().scores.push_back(files_of_all(spec.scores));
  }
  return make_final_plan(folds, std::move(config), store, missing);
}

MixRow final_row(const Plan& folds, const Plan& final_plan, const FinalChoice& choice,
                 const std::vector<std::vector<CalibratedModel>>& members) {
  const std::vector<uint32_t> learners = chosen_learners(choice);
  struct Entry {
    Member member;
    double weight;
    MemberRef source;
  };
  std::vector<Entry> entries;
  for (const ChosenMember& chosen : choice.members) {
    const auto number = static_cast<uint32_t>(
        std::lower_bound(learners.begin(), learners.end(), chosen.learner) - learners.begin());
    const Point at = folds.config.learners[chosen.learner].points()[chosen.point];
    const std::vector<CalibratedModel>& made = members[number];
    const auto found = std::find_if(made.begin(), made.end(), [&](const CalibratedModel& m) {
      return m.at == at && m.calibrator.spec().name() == chosen.calibration;
    });
    require(found != made.end(), "a chosen member that the final model does not have");
    entries.push_back({member_of(final_plan.config.learners[number], at, found->calibrator.spec()),
                       chosen.weight,
                       {number, static_cast<uint32_t>(found - made.begin())}});
  }
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.member < b.member; });
  std::vector<Member> described;
  std::vector<double> weights;
  MixRow row;
  for (Entry& entry : entries) {
    described.push_back(std::move(entry.member));
    weights.push_back(entry.weight);
    row.sources.push_back(entry.source);
  }
  row.mixture = Mixture(std::move(described), std::move(weights), folds.config.mix.normalize, choice.c,
                        choice.checkpoint);
  return row;
}

}  // namespace tunemix
