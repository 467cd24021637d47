// Times text to binned data in memory: load_bench FILE [THREADS] [REPEATS] prints the best of the repeats.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tunemix/core/timer.h"
#include "tunemix/data/binning.h"
#include "tunemix/data/letor_reader.h"

int main(int argc, char** argv) {
  using namespace tunemix;
  if (argc < 2) {
    fmt::print(stderr, "usage: load_bench FILE [THREADS] [REPEATS]\n");
    return 2;
  }
  const std::filesystem::path file = argv[1];
  const Context context(argc > 2 ? std::atoi(argv[2]) : 1);
  const int repeats = argc > 3 ? std::atoi(argv[3]) : 3;
  const double megabytes = static_cast<double>(std::filesystem::file_size(file)) / 1e6;
  double parse = 1e9;
  double cuts = 1e9;
  double bins = 1e9;
  double total = 1e9;
  double matrix_mb = 0;
  double peak_mb = 0;
  for (int i = 0; i < repeats; ++i) {
    Timer timer;
    const Dataset data = read_letor(file, {}, context);
    const double parsed = timer.seconds();
    const BinCuts thresholds = find_cuts(data, 255, context);
    const double cut = timer.seconds();
    const BinnedDataset binned(data, thresholds, BinLayout::kPanels, context);
    const double done = timer.seconds();
    parse = std::min(parse, parsed);
    cuts = std::min(cuts, cut - parsed);
    bins = std::min(bins, done - cut);
    total = std::min(total, done);
    matrix_mb =
        static_cast<double>(data.values().size_bytes() + binned.documents() * binned.features()) / 1e6;
    if (i == 0) {
      fmt::print("{} documents, {} features\n", data.documents(), data.features());
      peak_mb = peak_rss_mb();
    }
  }
  fmt::print("parse {:.3f} s, {:.0f} MB/s\n", parse, megabytes / parse);
  fmt::print("cuts  {:.3f} s, {:.0f} MB/s of text\n", cuts, megabytes / cuts);
  fmt::print("bins  {:.3f} s, {:.0f} MB/s of text\n", bins, megabytes / bins);
  fmt::print("total {:.3f} s, {:.0f} MB/s\n", total, megabytes / total);
  fmt::print("peak memory {:.0f} MB, {:.2f} times the matrix and its bins\n", peak_mb, peak_mb / matrix_mb);
  return 0;
}
