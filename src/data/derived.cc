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
  return data.with_features(std::move(values), columns.size());
}

Dataset widened(const Dataset& data, size_t features, const Context& context) {
  require(features >= data.features(), "fewer features than there are");
  if (features == data.features()) return data;
  FloatBuffer values(data.documents() * features);
  parallel_blocks(context.pool(), data.documents(), kBlock, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      float* to = values.data() + i * features;
      std::fill(std::copy_n(data.row(i).data(), data.features(), to), to + features, 0.0F);
    }
  });
  return data.with_features(std::move(values), features).named(data.feature_names());
}

Dataset with_labels(const Dataset& data, std::vector<int32_t> labels) {
  Documents about = data.about();
  about.labels = std::move(labels);
  return data.with_documents(std::move(about));
}

Dataset with_copies(const Dataset& data, int copies, double leave_out, Random random) {
  const QueryIndex& queries = data.queries();
  std::vector<size_t> documents(data.documents());
  for (size_t i = 0; i < documents.size(); ++i) documents[i] = i;
  Documents about{.queries = queries};
  for (int copy = 1; copy <= copies; ++copy)
    for (size_t q = 0; q < queries.size(); ++q) {
      const size_t before = documents.size();
      for (size_t i = queries.begin(q); i < queries.end(q); ++i)
        if (random.uniform() >= leave_out) documents.push_back(i);
      if (documents.size() == before) documents.push_back(queries.begin(q) + random.below(queries.length(q)));
      about.queries.add(fmt::format("{}~{}", queries.id(q), copy), documents.size() - before);
    }
  FloatBuffer values(documents.size() * data.features());
  for (size_t i = 0; i < documents.size(); ++i) {
    std::copy_n(data.row(documents[i]).data(), data.features(), values.data() + i * data.features());
    about.labels.push_back(data.labels()[documents[i]]);
    if (data.names().size() > 0) about.names.add(data.names()[documents[i]]);
    if (!data.weights().empty()) about.weights.push_back(data.weights()[documents[i]]);
  }
  return Dataset(std::move(values), data.features(), std::move(about));
}

}  // namespace tunemix
