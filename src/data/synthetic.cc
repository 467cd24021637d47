#include "tunemix/data/synthetic.h"

#include <algorithm>

#include "data/letor_text.h"
#include "data/synthetic_generator.h"
#include "data/text_sink.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

std::unique_ptr<SyntheticGenerator> make_generator(const SyntheticOptions& options) {
  if (options.queries < 1) throw InputError("queries is 0; expected at least 1");
  if (options.features < 1 || options.features > 10000)
    throw_input("features is {}; expected 1 to 10000", options.features);
  if (options.labels < 2 || options.labels > 5) throw_input("labels is {}; expected 2 to 5", options.labels);
  if (!(options.mean_length >= 1 && options.mean_length <= 10000))
    throw_input("mean_length is {}; expected 1 to 10000", options.mean_length);
  if (!(options.label_noise >= 0 && options.label_noise <= 100))
    throw_input("label_noise is {}; expected 0 to 100", options.label_noise);
  if (options.useful > options.features)
    throw_input("useful is {}; expected at most the {} features", options.useful, options.features);
  return options.structure == SyntheticStructure::kTopics ? make_topics_generator(options)
                                                          : make_fields_generator(options);
}

std::string document_name(const SyntheticOptions& options, size_t q, size_t i) {
  return fmt::format("syn{}-{}-{}", options.seed, q + 1, i + 1);
}

}  // namespace

std::vector<std::string> synthetic_presets() { return {"quickstart", "mslr10k", "web2"}; }

SyntheticOptions synthetic_preset(std::string_view name) {
  SyntheticOptions options;
  if (name == "quickstart") return options;
  options.features = 136;
  if (name == "mslr10k") {
    options.queries = 10000;
    options.mean_length = 72.3;
  } else if (name == "web2") {
    options.structure = SyntheticStructure::kTopics;
    options.queries = 9000;
    options.mean_length = 80;
    options.label_noise = 1;
  } else {
    throw_input("preset is '{}'; expected {}", name, fmt::join(synthetic_presets(), ", "));
  }
  return options;
}

Dataset make_synthetic(const SyntheticOptions& options, const Context& context) {
  const auto generator = make_generator(options);
  std::vector<size_t> offsets(options.queries + 1, 0);
  context.pool().run(options.queries, [&](size_t q) { offsets[q + 1] = generator->length(q); });
  for (size_t q = 0; q < options.queries; ++q) offsets[q + 1] += offsets[q];
  FloatBuffer features(offsets.back() * options.features);
  std::vector<int32_t> labels(offsets.back());
  context.pool().run(options.queries, [&](size_t q) {
    generator->fill(q, labels.data() + offsets[q], features.data() + offsets[q] * options.features);
  });
  std::vector<std::string> ids;
  NameTable names;
  for (size_t q = 0; q < options.queries; ++q) {
    ids.push_back(std::to_string(q + 1));
    for (size_t i = 0; i < offsets[q + 1] - offsets[q]; ++i) names.add(document_name(options, q, i));
  }
  return Dataset(std::move(features), options.features,
                 {.labels = std::move(labels),
                  .queries = QueryIndex(std::move(offsets), std::move(ids)),
                  .names = std::move(names)});
}

size_t write_synthetic(const SyntheticOptions& options, const std::filesystem::path& file,
                       const Context& context) {
  constexpr size_t kQueriesAPiece = 4;
  constexpr size_t kPieces = 32;
  const auto generator = make_generator(options);
  TextSink sink(file);
  std::vector<std::string> pieces(kPieces);
  std::vector<size_t> documents(kPieces);
  size_t total = 0;
  for (size_t first = 0; first < options.queries; first += kPieces * kQueriesAPiece) {
    context.check_stop();
    context.pool().run(kPieces, [&](size_t p) {
      pieces[p].clear();
      documents[p] = 0;
      std::vector<int32_t> labels;
      std::vector<float> rows;
      const size_t begin = first + p * kQueriesAPiece;
      for (size_t q = begin; q < std::min(begin + kQueriesAPiece, options.queries); ++q) {
        const size_t length = generator->length(q);
        labels.resize(length);
        rows.resize(length * options.features);
        generator->fill(q, labels.data(), rows.data());
        for (size_t i = 0; i < length; ++i)
          append_letor_line(pieces[p], labels[i], std::to_string(q + 1),
                            std::span(rows).subspan(i * options.features, options.features),
                            document_name(options, q, i), true, true);
        documents[p] += length;
      }
    });
    sink.append(pieces, context.pool());
    for (const size_t count : documents) total += count;
    context.progress(std::min(first + kPieces * kQueriesAPiece, options.queries), options.queries, 0);
  }
  sink.close();
  return total;
}

}  // namespace tunemix
