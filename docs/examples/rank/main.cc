// Ranks the documents of a LETOR file with a bundle: rank BUNDLE DATA. Prints a line a document, best first:
// query, rank, name or number of the document, score.
#include <tunemix/core/error.h>
#include <tunemix/data/letor_reader.h>
#include <tunemix/export/bundle.h>
#include <tunemix/export/writers.h>
#include <tunemix/learners/registry.h>

#include <cstdio>
#include <span>

int main(int argc, char** argv) {
  using namespace tunemix;
  if (argc != 3) {
    std::fprintf(stderr, "usage: rank BUNDLE DATA\n");
    return 2;
  }
  try {
    const Context context(
        1);  // one thread; a bundle may be used from many at once, each with a context of its own
    const Bundle bundle = Bundle::load(argv[1], registry());
    LetorOptions options;
    options.unlabelled = true;
    options.num_features = bundle.info().features;
    const Dataset data = read_letor(argv[2], options, context);
    const std::vector<float> scores = bundle.predict(data, context);
    const std::vector<std::string> ids = document_ids(data.queries(), data.names());
    for (size_t q = 0; q < data.queries().size(); ++q) {
      const size_t begin = data.queries().begin(q);
      const auto order = rank_documents(std::span(scores).subspan(begin, data.queries().length(q)));
      for (size_t rank = 0; rank < order.size(); ++rank)
        std::printf("%s %zu %s %.9g\n", data.queries().id(q).c_str(), rank + 1,
                    ids[begin + order[rank]].c_str(), static_cast<double>(scores[begin + order[rank]]));
    }
  } catch (const InputError& error) {
    std::fprintf(stderr, "rank: %s\n", error.what());
    return 2;
  }
}
