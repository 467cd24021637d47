#include "pipeline/run/finished_run.h"

#include <algorithm>
#include <optional>

#include "pipeline/run/bundle_writer.h"
#include "tunemix/core/text.h"

namespace tunemix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

fs::path find_manifest(const fs::path& run, const fs::path& runs) {
  for (const fs::path& folder : {run, runs / run})
    if (fs::exists(folder / "manifest.json"))
      return fs::absolute(folder / "manifest.json").lexically_normal();
  throw_input("{}: no run; expected a run directory or the name of one under {}", run.string(),
              runs.string());
}

// Beside the folder of the run, or beside that of its name.
fs::path store_of(const fs::path& folder) {
  for (fs::path at = folder.parent_path(); at.has_relative_path(); at = at.parent_path())
    if (fs::exists(at / ".store")) return at / ".store";
  return folder.parent_path() / ".store";
}

// The keys of the artifacts of one kind: "data/0a/0a....tmx" -> 0a....
std::vector<Hash128> keys_of(const Json& manifest, const std::string& kind) {
  std::vector<Hash128> keys;
  for (const Json& artifact : manifest.at("artifacts")) {
    const fs::path path = artifact.get<std::string>();
    if (path.begin()->string() == kind) keys.push_back(Hash128::from_hex(path.stem().string()));
  }
  return keys;
}

}  // namespace

std::vector<std::string> FinishedRun::rows() const {
  std::vector<std::string> names;
  for (const QueryValues& values : evaluation.per_query)
    if (values.fold == 0) names.push_back(values.row);
  return names;
}

std::string FinishedRun::row_or_main(const std::string& row) const {
  const std::vector<std::string> names = rows();
  if (row.empty()) return main_row_name(names);
  if (std::find(names.begin(), names.end(), row) == names.end())
    throw_input("the run '{}' has no row '{}'; expected one of: {}{}", name, row, join(names, ", "),
                did_you_mean(row, names));
  return row;
}

const QueryValues& FinishedRun::values(const std::string& row, size_t fold) const {
  const auto it = std::find_if(evaluation.per_query.begin(), evaluation.per_query.end(),
                               [&](const QueryValues& v) { return v.row == row && v.fold == fold; });
  require(it != evaluation.per_query.end(), "a row without the values of a fold");
  return *it;
}

FinishedRun open_run(const fs::path& run, const fs::path& runs, const Context& context) {
  const fs::path file = find_manifest(run, runs);
  const fs::path folder = file.parent_path();
  FinishedRun result;
  try {
    const Json manifest = Json::parse(read_text_file(file));
    result.name = manifest.at("name").get<std::string>();
    result.err_max = manifest.at("config").at("evaluate.err_max").get<std::string>();
    const ArtifactStore store(store_of(folder), StoreUse::kRead);
    auto evaluation = store.load_as(kEvaluationKind, keys_of(manifest, kEvaluationKind).at(0),
                                    kEvaluationVersion, context, load_evaluation);
    if (!evaluation)
      throw_input("{}: this run has not been evaluated; run it to its end first", folder.string());
    result.evaluation = std::move(*evaluation);
    result.tool = result.evaluation.rows.front().tool;
    for (const Json& data : manifest.at("data")) {
      const Hash128 key = Hash128::from_hex(data.get<std::string>());
      auto info = store.load_as(kFoldKind, key, kFoldVersion, context, load_fold_info);
      if (!info)
        throw_input("{}: the data of this run is not in the store; run it again first", folder.string());
      result.labels.push_back(info->labels);
      result.tests.push_back(std::move(info->test));
    }
    for (const QueryValues& values : result.evaluation.per_query)
      if (values.fold >= result.tests.size() ||
          values.ndcg.size() != result.tests[values.fold].queries.size())
        throw_input("{}: its evaluation is of other data; run it again first", folder.string());
  } catch (const Json::exception&) {
    throw_input("{}: not a manifest of a run", file.string());
  } catch (const std::out_of_range&) {
    throw_input("{}: not a manifest of a run", file.string());
  }
  return result;
}

}  // namespace tunemix
