#include <algorithm>
#include <map>
#include <utility>

#include "tunemix/core/error.h"
#include "tunemix/export/model_export.h"

namespace tunemix {
namespace {

// sum = constant + weights . (the columns of a model)
struct Combination {
  double constant = 0;
  std::vector<double> weights;
};

void add(const PlainModel& model, const Combination& how, PlainModel& to) {
  const size_t columns = model.columns;
  to.start[0] += how.constant;
  to.missing.insert(model.missing.begin(), model.missing.end());
  for (size_t k = 0; k < columns; ++k) to.start[0] += how.weights[k] * model.start[k];
  for (const PlainTree& tree : model.trees) {
    PlainTree& added = to.trees.emplace_back();
    added.nodes = tree.nodes;
    added.values.assign(tree.values.size() / columns, 0.0);
    for (size_t i = 0; i < tree.values.size(); ++i)
      added.values[i / columns] += how.weights[i % columns] * tree.values[i];
  }
  if (!model.weights.empty()) to.weights.resize(to.features, 0.0);
  for (size_t i = 0; i < model.weights.size(); ++i)
    to.weights[i / columns] += how.weights[i % columns] * model.weights[i];
}

}  // namespace

PlainModel plain_ranker(const Model& model, size_t point) {
  if (const std::string name = model.external_scores(); !name.empty())
    throw_input("its scores are those of '{}', from elsewhere", name);
  if (model.columns() != 1)
    throw_input(
        "the model gives {} scores a document, one for each label, and no calibration says how they become "
        "one; export a bundle that mixes it by linear calibrations (rbc.linear), or distil one",
        model.columns());
  return model.plain(point);
}

PlainModel plain_ranker(const Bundle& bundle) {
  for (const auto& [name, columns] : bundle.external_scores())
    throw_input("it mixes the scores '{}' from elsewhere", name);
  if (bundle.mixture().normalize() == Normalize::kQuery)
    throw_input(
        "its members are standardised within each query (normalize: query), so that a document's score "
        "depends on the others of its query; distil it to one model, or mix with normalize: none");
  // Members of the same model and point are one combination of its columns.
  std::map<std::pair<uint32_t, uint32_t>, Combination> combinations;
  const std::vector<BundleMember>& members = bundle.members();
  for (size_t m = 0; m < members.size(); ++m) {
    const BundleMember& member = members[m];
    const double weight = bundle.mixture().weights()[m];
    const auto linear = member.calibrator.linear();
    if (!linear)
      throw_input("the calibration {} of the member {} is not linear; distil the ensemble to one model",
                  member.calibrator.spec().name(), bundle.mixture().members()[m].name());
    const double share = weight / static_cast<double>(member.models.size());
    for (const uint32_t model : member.models) {
      if (const Standardize mode = bundle.models()[model].standardize; mode != Standardize::kNone)
        throw_input("the features of the member {} are standardised within each query (standardize: {})",
                    bundle.mixture().members()[m].name(), to_string(mode));
      Combination& sum = combinations[{model, member.point}];
      sum.weights.resize(linear->weights.size(), 0.0);
      sum.constant += share * linear->constant;
      for (size_t k = 0; k < sum.weights.size(); ++k) sum.weights[k] += share * linear->weights[k];
    }
  }
  PlainModel result;
  result.features = bundle.info().width();
  result.start = {0.0};
  for (const auto& [of, how] : combinations)
    add(bundle.models()[of.first].learned.model->plain(of.second), how, result);
  return result;
}

}  // namespace tunemix
