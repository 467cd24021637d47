#include "pipeline/commands/bundle_data.h"

#include <algorithm>

#include "tunemix/core/text.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/metric/score_file.h"

namespace tunemix {

Dataset read_bundle_data(const std::vector<std::filesystem::path>& files, const BundleInfo& bundle,
                         const Context& context) {
  LetorOptions options;
  options.unlabelled = true;
  options.num_features = bundle.features;
  options.max_feature_id = std::max(options.max_feature_id, options.num_features);
  return read_letor(files, options, context);
}

Dataset read_bundle_files_apart(const std::vector<std::filesystem::path>& files, const BundleInfo& bundle,
                                const Context& context) {
  if (files.size() == 1) return read_bundle_data(files, bundle, context);
  std::vector<Dataset> parts;
  Documents about;
  for (const std::filesystem::path& file : files) {
    parts.push_back(read_bundle_data({file}, bundle, context));
    about.append(parts.back().about());
  }
  FloatBuffer values(about.size() * bundle.features);
  float* to = values.data();
  for (const Dataset& part : parts) to = std::copy(part.values().begin(), part.values().end(), to);
  return Dataset(std::move(values), bundle.features, std::move(about));
}

GivenScores read_member_scores(const std::vector<std::string>& named, const Bundle& bundle,
                               const Dataset& data) {
  std::vector<std::string> wanted;
  for (const auto& [name, columns] : bundle.external_scores()) wanted.push_back(name);
  // More than the scores of so many documents can take; a file that never ends is left.
  constexpr size_t kMostLineBytes = 1024;
  const size_t most = (data.documents() + 1) * kMostLineBytes;
  GivenScores given;
  for (const std::string& text : named) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos) throw_input("--member-scores {}: expected NAME=FILE", text);
    const std::string name = text.substr(0, equals);
    if (std::find(wanted.begin(), wanted.end(), name) == wanted.end())
      throw_input("--member-scores {}: the bundle has no such member{}; it asks for: {}", text,
                  did_you_mean(name, wanted), wanted.empty() ? "none" : join(wanted, ", "));
    if (given.contains(name))
      throw_input("--member-scores {}: scores of '{}' are given twice; give one file for each name", text,
                  name);
    const std::filesystem::path files[] = {text.substr(equals + 1)};
    expect_regular_file(files[0], most);
    given[name] = read_score_columns(files, data.documents(), data.source_rows());
  }
  for (const std::string& name : wanted)
    if (!given.contains(name))
      throw_input(
          "the bundle mixes the scores '{}' from elsewhere; give those of these documents with "
          "--member-scores {}=FILE",
          name, name);
  return given;
}

}  // namespace tunemix
