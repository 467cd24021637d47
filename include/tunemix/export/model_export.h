// Rankers as model files of other programs: XGBoost, RankLib, Solr and Elasticsearch. The scores are the same
// ones, or the export is refused with the reason.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tunemix/export/bundle.h"
#include "tunemix/learn/plain_model.h"

namespace tunemix {

enum class ModelFormat { kXgboost, kRankLib, kSolr, kElasticsearch };

ModelFormat parse_model_format(std::string_view name);  // throws InputError with the nearest name
const std::vector<std::string>& model_format_names();

// One score a document, in plain terms. Throws InputError with the reason if it cannot be made: K
// columns without a calibration, members that are standardised within a query, a calibration that is not
// linear, features that are computed from a whole query, scores from elsewhere.
PlainModel plain_ranker(const Model& model, size_t point);
PlainModel plain_ranker(const Bundle& bundle);

struct ModelExport {
  std::string name = "tunemix";            // of the model, where the format has one
  std::vector<std::string> feature_names;  // of every feature; empty: none were given
  bool without_constant = false;           // leave out what a linear format has no place for
};

struct ExportedModel {
  std::string text;
  std::vector<std::string> notes;  // what is worth knowing of it
};

// Of one column. Every value of a feature goes to the side of a cut that it has here; leaves and weights are
// rounded to single precision, as these programs hold them (RankLib holds weights in double precision).
// Throws InputError where the program would refuse the model.
ExportedModel export_model(ModelFormat format, const PlainModel& model, const ModelExport& options);

// The largest float that, written as a threshold for Solr, sends x >= threshold to the right: Solr adds 1e-6
// and sends the others to the left.
float solr_threshold(float threshold);

}  // namespace tunemix
