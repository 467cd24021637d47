// Solves an SVM path over C and prints what it reached and how long it took, as tab-separated lines.
//
//   svm_path_bench [--threads N] [--trace] [--per-document] [--set key=value]... --C LIST FILE...
//   svm_path_bench ... --queries N        synthetic data of the preset mslr10k instead of files
//
// --per-document takes the values of C as C/n; --trace prints seconds, epoch and gap on the way to stderr.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "learners/svm/svm.h"
#include "tunemix/core/timer.h"
#include "tunemix/data/letor_reader.h"
#include "tunemix/data/synthetic.h"

int main(int argc, char** argv) {
  using namespace tunemix;
  CLI::App app("SVM path benchmark");
  int threads = 1;
  bool trace = false;
  bool per_document = false;
  size_t queries = 0;
  std::vector<std::string> settings;
  std::vector<double> Cs;
  std::vector<std::filesystem::path> files;
  app.add_option("--threads", threads);
  app.add_flag("--trace", trace);
  app.add_flag("--per-document", per_document);
  app.add_option("--queries", queries);
  app.add_option("--set", settings)->allow_extra_args(false);
  app.add_option("--C", Cs)->delimiter(',')->required();
  app.add_option("files", files);
  CLI11_PARSE(app, argc, argv);

  Context context(threads);
  context.on_log = [](LogLevel, const std::string& message) { fmt::print(stderr, "{}\n", message); };
  SvmOptions options;
  for (const std::string& setting : settings) {
    const size_t equals = std::min(setting.find('='), setting.size() - 1);
    svm_option_table().set(options, setting.substr(0, equals), setting.substr(equals + 1));
  }
  SyntheticOptions synthetic = synthetic_preset("mslr10k");
  synthetic.queries = queries;
  const Dataset data = queries > 0 ? make_synthetic(synthetic, context) : read_letor(files, {}, context);
  if (per_document)
    for (double& C : Cs) C *= static_cast<double>(data.documents());

  const Timer timer;
  if (trace)
    context.on_progress = [&](const Progress& p) {
      fmt::print(stderr, "{:.2f} s\tepoch {}\tgap {:.3g}\n", timer.seconds(), p.done, p.value);
    };
  const std::vector<SvmSolution> solutions = train_svm_path(data, options, Cs, context);
  const double seconds = timer.seconds();
  for (const SvmSolution& s : solutions)
    fmt::print("C\t{:g}\tprimal\t{:.8g}\tdual\t{:.8g}\tgap\t{:.3g}\tepochs\t{}\n", s.C, s.primal, s.dual,
               s.gap(), s.epochs);
  fmt::print("documents\t{}\tfeatures\t{}\tseconds\t{:.3f}\tpeak_mb\t{:.0f}\n", data.documents(),
             data.features(), seconds, peak_rss_mb());
  return 0;
}
