#include "tests/fuzz/small_run.h"

#include <fcntl.h>
#include <unistd.h>

#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"

namespace tunemix::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr const char* kConfig =
    "name: small\n"
    "data:\n"
    "  folds:\n"
    "    - {train: train.txt, valid: valid.txt, test: test.txt}\n"
    "learners:\n"
    "  - {type: adaboost_mh, base: tree, leaves: 3, iterations: 2, bandit: value}\n"
    "  - {type: svm, C: [0.1, 1], bags: 2}\n"
    "  - {type: ranksvm, C: 1}\n"
    "calibrate: {cpc: [shift, ls, each.ls, matrix.ell], rbc: {regressors: [linear, logistic, neural], "
    "targets: [raw]}}\n"
    "mix: {c: {from: 0, to: 20, step: 10}}\n"
    "evaluate: {tools: [yahoo]}\n";

Dataset make_data(const fs::path& folder, const Context& context) {
  const auto data = [&](uint64_t seed, size_t queries) {
    return make_synthetic({.queries = queries, .features = 3, .labels = 3, .mean_length = 4, .seed = seed},
                          context);
  };
  write_letor(data(1, 6), folder / "train.txt");
  write_letor(data(2, 6), folder / "valid.txt");
  write_letor(data(3, 4), folder / "test.txt");
  return data(4, 2);
}

RunOptions options_in(const fs::path& folder) {
  RunOptions options;
  options.runs = folder / "runs";
  return options;
}

}  // namespace

SmallRun::SmallRun()
    : data_(make_data(scratch_.path(), context_)),
      experiment_(parse_config(kConfig, "small.yaml", {"data.root=" + scratch_.path().string()}),
                  options_in(scratch_.path()), context_, view_) {
  experiment_.run();
}

Bytes SmallRun::payload(const char* kind, const Hash128& key) {
  return read_artifact(store().path_of(kind, key)).payload;
}

fs::path SmallRun::written(const fs::path& name, const Bytes& bytes) const {
  const fs::path path = scratch_.path() / name;
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
    throw std::runtime_error("cannot write " + path.string());
  return path;
}

}  // namespace tunemix::fuzz
