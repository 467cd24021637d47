#include "tunemix/data/derived.h"

#include <algorithm>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

constexpr size_t kBlock = 1024;  // documents

}  // namespace

Dataset select_features(const Dataset& data, std::span<const uint32_t> columns, const Context& context) {
  for (const uint32_t column : columns) require(column < data.features(), "a feature that is not there");
  FloatBuffer values(data.documents() * columns.size());
  parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      for (size_t k = 0; k < columns.size(); ++k)
        values.data()[i * columns.size() + k] = data.row(i)[columns[k]];
  });
  return Dataset(std::move(values), columns.size(), {data.labels().begin(), data.labels().end()},
                 data.queries(), data.names(), {data.source_rows().begin(), data.source_rows().end()},
                 &context.pool())
      .weighted({data.weights().begin(), data.weights().end()});
}

Dataset with_labels(const Dataset& data, std::vector<int32_t> labels) {
  return Dataset(FloatBuffer(data.values()), data.features(), std::move(labels), data.queries(), data.names(),
                 {data.source_rows().begin(), data.source_rows().end()})
      .weighted({data.weights().begin(), data.weights().end()});
}

Dataset with_copies(const Dataset& data, int copies, double leave_out, Random random) {
  const QueryIndex& queries = data.queries();
  std::vector<size_t> documents(data.documents());
  for (size_t i = 0; i < documents.size(); ++i) documents[i] = i;
  std::vector<size_t> offsets(queries.offsets().begin(), queries.offsets().end());
  std::vector<std::string> ids(queries.ids().begin(), queries.ids().end());
  for (int copy = 1; copy <= copies; ++copy)
    for (size_t q = 0; q < queries.size(); ++q) {
      const size_t before = documents.size();
      for (size_t i = queries.begin(q); i < queries.end(q); ++i)
        if (random.uniform() >= leave_out) documents.push_back(i);
      if (documents.size() == before) documents.push_back(queries.begin(q) + random.below(queries.length(q)));
      offsets.push_back(documents.size());
      ids.push_back(fmt::format("{}~{}", queries.id(q), copy));
    }
  FloatBuffer values(documents.size() * data.features());
  std::vector<int32_t> labels;
  NameTable names;
  std::vector<float> weights;
  for (size_t i = 0; i < documents.size(); ++i) {
    std::copy_n(data.row(documents[i]).data(), data.features(), values.data() + i * data.features());
    labels.push_back(data.labels()[documents[i]]);
    if (data.names().size() > 0) names.add(data.names()[documents[i]]);
    if (!data.weights().empty()) weights.push_back(data.weights()[documents[i]]);
  }
  return Dataset(std::move(values), data.features(), std::move(labels),
                 QueryIndex(std::move(offsets), std::move(ids)), std::move(names))
      .weighted(std::move(weights));
}

}  // namespace tunemix
