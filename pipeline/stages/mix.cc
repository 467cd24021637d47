#include "pipeline/stages/mix.h"

#include <algorithm>
#include <cmath>

namespace tunemix {
namespace {

// The families of the config in their order there, with their rows' prefixes.
std::vector<FamilyRow> family_rows(const Config& config) {
  std::vector<FamilyRow> rows;
  for (const LearnerSpec& spec : config.learners)
    if (std::none_of(rows.begin(), rows.end(), [&](const FamilyRow& r) { return r.family == spec.family(); }))
      rows.push_back({spec.family(), spec.row()});
  return rows;
}

struct Gathered {
  std::vector<Member> members;
  std::vector<MemberRef> refs;
};

Gathered gather(const Plan& plan, const FoldMembers& fold_members) {
  Gathered result;
  for (uint32_t l = 0; l < fold_members.members.size(); ++l)
    for (uint32_t m = 0; m < fold_members.members[l].size(); ++m) {
      const CalibratedModel& model = fold_members.members[l][m];
      result.members.push_back(member_of(plan.config.learners[l], model.at, model.calibrator.spec()));
      result.refs.push_back({l, m});
    }
  return result;
}

MemberSource source_of(const std::vector<std::vector<float>>& scores, const std::vector<MemberRef>& refs,
                       size_t documents) {
  return [&scores, &refs, documents](size_t member) {
    const MemberRef& ref = refs[member];
    return std::span(scores[ref.learner]).subspan(ref.member * documents, documents);
  };
}

MixRow row_of(MixResult result, const std::vector<MemberRef>& refs, std::vector<float> test) {
  MixRow row;
  row.name = result.variant.name;
  for (const size_t source : result.sources) row.sources.push_back(refs[source]);
  row.left_out = result.left_out;
  row.validation = result.validation;
  row.chosen_by = result.chosen_by;
  row.grid = std::move(result.grid);
  row.diagnostics = std::move(result.diagnostics);
  row.valid = std::move(result.scores);
  row.test = std::move(test);
  row.mixture = std::move(result.mixture);
  return row;
}

// What is said of a mixture is of the validation queries alone, which come first among those that it was
// chosen by.
void keep_validation(const Plan& plan, const FoldInfo& info, MixResult& result, const Context& context) {
  const SplitInfo& valid = info.valid;
  if (result.scores.size() == valid.labels.size()) return;
  result.scores.resize(valid.labels.size());
  const std::vector<double> grades = fold_grades(plan.config, info.labels);
  const std::vector<double> weights = query_weights(valid.queries, valid.weights);
  const MemberSource own = [&](size_t) { return std::span<const float>(result.scores); };
  result.validation =
      member_quality(std::vector<Member>(1), own, {valid.queries, valid.labels, grades, weights},
                     plan.config.mix.metric, context)[0];
}

std::vector<MixResult> mix_members(const Plan& plan, const FoldInfo& info, const FoldMembers& members,
                                   const Gathered& all, std::span<const Variant> variants,
                                   const MixOptions& options, const Context& context) {
  const Documents& choosing = members.choosing;
  const std::vector<double> grades = fold_grades(plan.config, info.labels);
  const std::vector<double> weights = query_weights(choosing.queries, choosing.weights);
  std::vector<MixResult> results =
      mix(all.members, source_of(members.choosing_scores, all.refs, choosing.labels.size()),
          {choosing.queries, choosing.labels, grades, weights}, variants, options, context);
  for (MixResult& result : results) keep_validation(plan, info, result, context);
  return results;
}

}  // namespace

Member member_of(const LearnerSpec& learner, const Point& point, const CalibrationSpec& calibration) {
  Member member;
  member.family = learner.family();
  member.kind = calibration.kind;
  member.checkpoint = point.length;
  member.model = point.label.empty() ? learner.title() : fmt::format("{} {}", learner.title(), point.label);
  member.calibration = calibration.name();
  return member;
}

std::vector<MixRow> mix_fold(const Plan& plan, const FoldInfo& info, const FoldMembers& members,
                             const Context& context) {
  const Gathered all = gather(plan, members);
  std::vector<MixResult> results =
      mix_members(plan, info, members, all, standard_variants(all.members, family_rows(plan.config)),
                  plan.config.mix, context);
  std::vector<std::vector<float>> test = apply_all(
      results, source_of(members.test, all.refs, info.test.labels.size()), info.test.queries, context);
  std::vector<MixRow> rows;
  for (size_t v = 0; v < results.size(); ++v)
    rows.push_back(row_of(std::move(results[v]), all.refs, std::move(test[v])));
  return rows;
}

MixRow mix_row_at(const Plan& plan, const FoldInfo& info, const FoldMembers& members, const std::string& name,
                  double c, int64_t checkpoint, const Context& context) {
  const Gathered all = gather(plan, members);
  const std::vector<Variant> variants = standard_variants(all.members, family_rows(plan.config));
  const auto variant = std::find_if(variants.begin(), variants.end(),
                                    [&](const Variant& v) { return v.name == name && !v.one_best; });
  require(variant != variants.end(), "a row that is no mixture");
  MixOptions options = plan.config.mix;
  options.choice = MixChoice::kFixed;
  options.fixed_c = c;
  options.fixed_checkpoint = checkpoint;
  return row_of(
      std::move(mix_members(plan, info, members, all, std::span(&*variant, 1), options, context)[0]),
      all.refs, {});
}

std::vector<uint8_t> save_mix(const std::vector<MixRow>& rows) {
  BinaryWriter out;
  out.put<uint64_t>(rows.size());
  for (const MixRow& row : rows) {
    out.put(row.name);
    row.mixture.save(out);
    out.put(row.sources);
    out.put(uint64_t{row.left_out});
    out.put(row.validation);
    out.put(row.chosen_by);
    out.put(row.grid);
    out.put(row.diagnostics);
    out.put(row.valid);
    out.put(row.test);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

std::vector<MixRow> load_mix(std::span<const uint8_t> payload, const Plan& plan, size_t fold,
                             const FoldInfo& info) {
  BinaryReader in(payload, fmt::format("the mixtures of fold {}", fold + 1));
  const std::vector<LearnerSpec>& learners = plan.config.learners;
  const auto finite = [](float v) { return std::isfinite(v); };
  std::vector<MixRow> rows;
  const size_t count = in.get_count(1);
  if (count == 0) in.fail("it has no rows");
  for (size_t r = 0; r < count; ++r) {
    MixRow& row = rows.emplace_back();
    row.name = in.get_string();
    row.mixture = Mixture::load(in);
    row.sources = in.get_vector<MemberRef>();
    row.left_out = in.get<uint64_t>();
    row.validation = in.get<double>();
    row.chosen_by = in.get<double>();
    row.grid = in.get_vector<GridPoint>();
    row.diagnostics = in.get_vector<MemberDiagnostics>();
    row.valid = in.get_vector<float>();
    row.test = in.get_vector<float>();
    const std::vector<Member>& members = row.mixture.members();
    if (members.empty() || row.sources.size() != members.size() || row.diagnostics.size() != members.size())
      in.fail("its members do not fit its mixture");
    for (size_t i = 0; i < members.size(); ++i)
      if (row.sources[i].learner >= learners.size() ||
          members[i].family != learners[row.sources[i].learner].family())
        in.fail("a member is of no learner");
    if (row.valid.size() != info.valid.labels.size() || row.test.size() != info.test.labels.size())
      in.fail("expected one score for each document");
    if (!std::all_of(row.valid.begin(), row.valid.end(), finite) ||
        !std::all_of(row.test.begin(), row.test.end(), finite))
      in.fail("a score is not a finite number");
    for (size_t other = 0; other < r; ++other)
      if (rows[other].name == row.name) in.fail("two rows have one name");
  }
  in.expect_end();
  return rows;
}

bool fits(const MixRow& row, const std::vector<std::vector<CalibratedModel>>& members) {
  for (size_t i = 0; i < row.sources.size(); ++i) {
    const MemberRef& ref = row.sources[i];
    if (ref.learner >= members.size() || ref.member >= members[ref.learner].size()) return false;
    const CalibratedModel& model = members[ref.learner][ref.member];
    const Member& member = row.mixture.members()[i];
    if (member.checkpoint != model.at.length || member.calibration != model.calibrator.spec().name())
      return false;
  }
  return true;
}

}  // namespace tunemix
