// The module tunemix._core: what the Python files of the package are made of. They check and convert what
// users give; this trusts them.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <filesystem>
#include <optional>
#include <system_error>

#include "arrays.h"
#include "pipeline/commands/metric_options.h"
#include "pipeline/run/experiment.h"
#include "session.h"
#include "tunemix/export/bundle.h"
#include "tunemix/learners/registry.h"
#include "tunemix/metric/evaluator.h"

namespace tunemix::python {
namespace {

namespace fs = std::filesystem;

using Doubles = py::array_t<double, py::array::c_style | py::array::forcecast>;
using Floats = py::array_t<float, py::array::c_style | py::array::forcecast>;

template <typename T>
py::array_t<T> as_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// Values in the order of the documents as they were given.
template <typename T>
std::vector<T> in_given_order(const std::vector<T>& values, std::span<const uint32_t> source_rows) {
  if (source_rows.empty()) return values;
  std::vector<T> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[source_rows[i]] = values[i];
  return result;
}

// Scores of rows in the data set's order.
std::vector<double> in_data_order(const Doubles& scores, const Dataset& data) {
  std::vector<double> result(data.documents());
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = scores.data()[data.source_rows().empty() ? i : data.source_rows()[i]];
  return result;
}

py::dict describe_policy(const MetricPolicy& policy) {
  py::dict result;
  for (const auto& entry : policy_options().entries()) result[py::str(entry.name)] = entry.get(policy);
  return result;
}

py::dict as_dict(const Evaluation& e) {
  std::vector<std::string> columns;
  for (size_t c = 0; c < e.measures.columns(); ++c) columns.push_back(e.measures.name(c));
  py::dict result;
  result["tool"] = e.policy.name;
  result["policy"] = describe_policy(e.policy);
  result["columns"] = columns;
  result["mean"] = e.mean;
  result["standard_error"] = e.standard_error;
  result["per_query"] = as_array(e.per_query);
  result["queries"] = e.queries;
  result["empty_queries"] = e.empty_queries;
  result["short_queries"] = e.short_queries;
  return result;
}

py::tuple evaluate_scores(const Dataset& data, const Doubles& given, const std::string& tools, size_t k,
                          const PolicyOverrides& overrides, int threads) {
  Session session(threads);
  const std::vector<double> scores = in_data_order(given, data);
  ToolChoice choice;
  std::vector<Evaluation> evaluations;
  session.work([&] {
    choice = fit_to_data(named_policies(tools, overrides), tools, overrides, data);
    evaluations = Evaluator(data, choice.policies, k)(scores, session.context().pool(), true);
  });
  py::list result;
  for (const Evaluation& e : evaluations) result.append(as_dict(e));
  return py::make_tuple(result, choice.skipped);
}

py::dict compare_two(const Dataset& data, const Doubles& given_a, const Doubles& given_b,
                     const std::string& tool, const std::string& metric, const PolicyOverrides& overrides,
                     int threads) {
  Session session(threads);
  const std::vector<double> a = in_data_order(given_a, data);
  const std::vector<double> b = in_data_order(given_b, data);
  PairedTest test;
  session.work([&] {
    test =
        compare_scores(data, a, b, make_policy(tool, overrides), overrides, metric, session.context().pool());
  });
  py::dict result;
  result["queries"] = test.pairs;
  result["mean_a"] = test.mean_a;
  result["mean_b"] = test.mean_b;
  result["difference"] = test.difference;
  result["standard_error"] = test.standard_error;
  result["t"] = test.t;
  result["p"] = test.p;
  result["p_a_better"] = test.p_a_better;
  result["wins"] = test.wins;
  result["ties"] = test.ties;
  result["losses"] = test.losses;
  return result;
}

py::tuple split_validation(const Dataset& data, double fraction, uint64_t seed, int threads) {
  Session session(threads);
  std::optional<std::pair<Dataset, Dataset>> parts;
  session.work([&] { parts = take_valid(data, {"train", fraction, seed}, session.context()); });
  return py::make_tuple(std::move(parts->first), std::move(parts->second));
}

struct BundleFile {
  std::shared_ptr<const Bundle> bundle;
};

template <typename Read>
BundleFile read_bundle(Read read) {
  Session session(1);
  BundleFile file;
  session.work([&] { file.bundle = std::make_shared<const Bundle>(read()); });
  return file;
}

BundleFile load_bundle(const std::string& path) {
  return read_bundle([&] { return Bundle::load(path, registry()); });
}

BundleFile parse_bundle(const std::string& content) {
  return read_bundle([&] {
    return Bundle::parse({reinterpret_cast<const uint8_t*>(content.data()), content.size()},
                         "a pickled bundle", registry());
  });
}

py::bytes bundle_content(const BundleFile& file) {
  const std::vector<uint8_t> content = file.bundle->file_bytes();
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

py::dict describe_bundle(const BundleFile& file) {
  const BundleInfo& info = file.bundle->info();
  py::dict result;
  result["name"] = info.name;
  result["row"] = info.row;
  result["fold"] = info.fold;
  result["key"] = info.key;
  result["features"] = info.features;
  result["labels"] = info.labels;
  py::list names;
  for (size_t j = 0; j < info.features && !info.feature_names.empty(); ++j)
    names.append(info.feature_names[j].empty() ? py::object(py::none())
                                               : py::object(py::str(std::string(info.feature_names[j]))));
  result["feature_names"] = names;
  if (!info.trained_on.empty()) {
    py::dict data;
    data["files"] = info.trained_on;
    data["queries"] = info.queries;
    data["documents"] = info.documents;
    result["trained_on"] = data;
  }
  if (!info.expected.measure.empty()) {
    py::dict expected;
    expected["measure"] = info.expected.measure;
    expected["value"] = info.expected.value;
    expected["stderr"] = info.expected.error;
    expected["on"] = info.expected.data;
    result["expected"] = expected;
  }
  std::vector<size_t> categorical;
  for (const Categories::Feature& feature : info.categories.features())
    categorical.push_back(feature.number + 1);
  result["categorical"] = categorical;
  result["members"] = file.bundle->mixture().members().size();
  result["models"] = file.bundle->models().size();
  py::list external_scores;
  for (const auto& [name, columns] : file.bundle->external_scores()) external_scores.append(name);
  result["external_scores"] = external_scores;
  return result;
}

py::array_t<float> predict(const BundleFile& file, const Dataset& data,
                           const std::map<std::string, Floats>& member_scores, int threads) {
  Session session(threads);
  GivenScores given;
  for (const auto& [name, values] : member_scores) {
    const auto columns = static_cast<size_t>(values.shape(1));
    ScoreMatrix scores(data.documents(), columns, name);
    for (size_t i = 0; i < data.documents(); ++i) {
      const size_t row = data.source_rows().empty() ? i : data.source_rows()[i];
      std::copy_n(values.data() + row * columns, columns, scores.row(i).begin());
    }
    given.emplace(name, std::move(scores));
  }
  std::vector<float> scores;
  session.work([&] {
    scores = in_given_order(file.bundle->predict(data, session.context(), given), data.source_rows());
  });
  return as_array(scores);
}

// What a run is given besides its config and data.
struct RunRequest {
  std::string runs;
  int threads;
  bool report;
  bool final_model;
};

using GivenFolds = std::vector<std::shared_ptr<const FoldFeatures>>;

py::dict run_experiment(Config config, const RunRequest& request, py::object progress) {
  Session session(request.threads, std::move(progress));
  RunOptions options;
  options.runs = request.runs;
  if (!request.report) options.until = Stage::kEvaluate;
  options.final_model = request.final_model;
  ProgressView view(session.listener());
  std::string results;
  fs::path directory;
  std::vector<std::map<std::string, std::vector<float>>> scores;
  session.work([&] {
    Experiment experiment(std::move(config), options, session.context(), view);
    experiment.run();
    results = results_json(experiment.results(experiment.evaluation())).dump();
    directory = experiment.directory();
    for (size_t fold = 0; fold < experiment.plan().fold_keys.size(); ++fold) {
      const MixRow& row = main_row(experiment.mix_rows(fold));
      const FoldInfo& info = experiment.fold_info(fold);
      scores.push_back({{"valid", in_given_order(row.valid, info.valid.source_rows)},
                        {"test", in_given_order(row.test, info.test.source_rows)}});
    }
  });
  py::dict result;
  result["results"] = results;
  result["directory"] = directory.string();
  py::list folds;
  for (const auto& fold : scores) {
    py::dict splits;
    for (const auto& [split, values] : fold) splits[py::str(split)] = as_array(values);
    folds.append(splits);
  }
  result["scores"] = folds;
  result["final"] = request.final_model;
  return result;
}

// A path as the program's messages show it.
void translate(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const Interrupted&) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
  } catch (const fs::filesystem_error& error) {
    PyErr_SetString(PyExc_OSError,
                    fmt::format("{}: {}", error.path1().string(), error.code().message()).c_str());
  } catch (const InternalError& error) {
    PyErr_SetString(PyExc_RuntimeError,
                    fmt::format("a mistake of ours, please report it: {}", error.what()).c_str());
  }
}

}  // namespace
}  // namespace tunemix::python

PYBIND11_MODULE(_core, m) {
  using namespace tunemix;
  using namespace tunemix::python;
  m.attr("__version__") = TUNEMIX_VERSION;
  py::register_exception_translator(translate);
  py::register_exception<InputError>(m, "InputError", PyExc_ValueError);
  py::register_exception<RunError>(m, "RunError", PyExc_RuntimeError);

  py::class_<GivenDocuments>(m, "Documents")
      .def(py::init([](const py::array_t<int32_t, py::array::c_style>& labels, std::vector<size_t> offsets,
                       std::vector<std::string> ids, const py::array_t<uint32_t, py::array::c_style>& order,
                       const py::array_t<float, py::array::c_style>& weights,
                       std::vector<std::string> feature_names,
                       std::map<size_t, std::vector<std::string>> words) {
             ValueNames of_values;
             for (auto& [feature, of_feature] : words) of_values.set(feature, std::move(of_feature));
             return GivenDocuments{
                 {.labels = std::vector<int32_t>(labels.data(), labels.data() + labels.size()),
                  .queries = QueryIndex(std::move(offsets), std::move(ids)),
                  .source_rows = std::vector<uint32_t>(order.data(), order.data() + order.size()),
                  .weights = std::vector<float>(weights.data(), weights.data() + weights.size()),
                  .words = std::move(of_values)},
                 std::move(feature_names)};
           }),
           py::arg("labels"), py::arg("offsets"), py::arg("ids"), py::arg("order"), py::arg("weights"),
           py::arg("feature_names"), py::arg("words"));
  py::class_<Dataset>(m, "Dataset")
      .def_property_readonly("documents", &Dataset::documents)
      .def_property_readonly("features", &Dataset::features)
      .def_property_readonly("queries", [](const Dataset& data) { return data.queries().size(); })
      .def_property_readonly("query_ids", [](const Dataset& data) { return data.queries().ids(); })
      .def_property_readonly("fingerprint", [](const Dataset& data) { return data.fingerprint().hex(); })
      .def_property_readonly(
          "address", [](const Dataset& data) { return reinterpret_cast<uintptr_t>(data.values().data()); });
  m.def("dense_dataset", &dense_dataset, py::arg("features"), py::arg("documents"), py::arg("threads"));
  m.def("sparse_dataset", &sparse_dataset, py::arg("indptr"), py::arg("indices"), py::arg("values"),
        py::arg("columns"), py::arg("documents"), py::arg("threads"));
  m.def("labelled_documents", &labelled_documents, py::arg("documents"), py::arg("names"));
  m.def("split_validation", &split_validation, py::arg("data"), py::arg("fraction"), py::arg("seed"),
        py::arg("threads"));

  m.def("preset_names", &preset_names);
  m.def("policy_options", [] {
    std::vector<std::string> names;
    for (const auto& entry : policy_options().entries()) names.push_back(entry.name);
    return names;
  });
  m.def("evaluate", &evaluate_scores, py::arg("data"), py::arg("scores"), py::arg("tools"), py::arg("k"),
        py::arg("overrides"), py::arg("threads"));
  m.def("compare", &compare_two, py::arg("data"), py::arg("a"), py::arg("b"), py::arg("tool"),
        py::arg("metric"), py::arg("overrides"), py::arg("threads"));

  py::class_<BundleFile>(m, "Bundle")
      .def_static("load", &load_bundle, py::arg("path"))
      .def_static("parse", &parse_bundle, py::arg("content"))
      .def("content", &bundle_content)
      .def(
          "save", [](const BundleFile& file, const std::string& path) { file.bundle->save(path); },
          py::arg("path"))
      .def("info", &describe_bundle)
      .def("predict", &predict, py::arg("data"), py::arg("member_scores"), py::arg("threads"));

  m.def(
      "run_text",
      [](const std::string& text, const std::vector<std::string>& overrides,
         const std::vector<std::tuple<Dataset, Dataset, Dataset>>& folds, const std::string& runs,
         int threads, bool report, bool final_model, py::object progress) {
        GivenFolds given;
        for (const auto& [train, valid, test] : folds)
          given.push_back(std::make_shared<const FoldFeatures>(FoldFeatures{train, valid, test}));
        return run_experiment(parse_config({text, "", overrides, std::move(given)}),
                              {runs, threads, report, final_model}, std::move(progress));
      },
      py::arg("text"), py::arg("overrides"), py::arg("folds"), py::arg("runs"), py::arg("threads"),
      py::arg("report"), py::arg("final"), py::arg("progress"));
  m.def(
      "run_file",
      [](const std::string& file, const std::vector<std::string>& overrides, const std::string& runs,
         int threads, bool report, bool final_model, py::object progress) {
        return run_experiment(read_config(file, overrides), {runs, threads, report, final_model},
                              std::move(progress));
      },
      py::arg("file"), py::arg("overrides"), py::arg("runs"), py::arg("threads"), py::arg("report"),
      py::arg("final"), py::arg("progress"));
}
