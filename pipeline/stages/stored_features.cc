#include "pipeline/stages/stored_features.h"

#include <array>
#include <cmath>
#include <cstring>

#include "tunemix/core/large_artifact.h"

namespace tunemix {
namespace {

constexpr size_t kSplits = 4;  // train, valid, test, and the source where there is one

// Of one split: everything but its feature values.
std::vector<uint8_t> head_of(const Dataset& data) {
  BinaryWriter out;
  out.put<uint64_t>(data.features());
  data.about().save(out);
  data.feature_names().save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

std::span<const uint8_t> bytes_of(std::span<const float> values) {
  return {reinterpret_cast<const uint8_t*>(values.data()), values.size_bytes()};
}

Dataset parse_split(std::span<const uint8_t> head, std::span<const uint8_t> values, const std::string& name) {
  BinaryReader in(head, name);
  const auto features = in.get<uint64_t>();
  Documents about = Documents::load(in);
  const FeatureNames feature_names = FeatureNames::load(in);
  in.expect_end();
  if (features == 0 || values.size() / sizeof(float) / features != about.size() ||
      values.size() != about.size() * features * sizeof(float))
    in.fail("its parts do not fit");
  FloatBuffer buffer(about.size() * features);
  if (!values.empty()) std::memcpy(buffer.data(), values.data(), values.size());
  for (const float x : buffer.values())
    if (std::isinf(x)) in.fail("a feature is infinite");
  return Dataset(std::move(buffer), features, std::move(about)).named(feature_names);
}

FoldFeatures parse_fold(std::span<const uint8_t> payload, const std::string& name) {
  std::array<uint64_t, 2 * kSplits> sizes{};  // of each split's head and values
  if (payload.size() < sizeof sizes) throw_input("{}: damaged file: it ends too early", name);
  std::memcpy(sizes.data(), payload.data(), sizeof sizes);
  payload = payload.subspan(sizeof sizes);
  std::vector<Dataset> splits;
  for (size_t s = 0; s < kSplits && (s < 3 || sizes[2 * s] > 0); ++s) {
    for (const uint64_t size : {sizes[2 * s], sizes[2 * s + 1]})
      if (size > payload.size()) throw_input("{}: damaged file: it ends too early", name);
    if (sizes[2 * s + 1] > payload.size() - sizes[2 * s])
      throw_input("{}: damaged file: it ends too early", name);
    splits.push_back(
        parse_split(payload.subspan(0, sizes[2 * s]), payload.subspan(sizes[2 * s], sizes[2 * s + 1]), name));
    payload = payload.subspan(sizes[2 * s] + sizes[2 * s + 1]);
  }
  if (!payload.empty()) throw_input("{}: damaged file: there is more data than expected", name);
  FoldFeatures fold{std::move(splits[0]), std::move(splits[1]), std::move(splits[2])};
  if (splits.size() == kSplits) fold.source = std::move(splits.back());
  return fold;
}

void save_parts(const char* kind, uint32_t version, const Hash128& key,
                std::span<const std::span<const uint8_t>> parts, const ArtifactStore& store) {
  write_large_artifact(store.place_for(kind, key), kind, version, parts, key, store.temporaries());
}

// What parse(payload, name) makes of a mapped artifact; nothing where it is missing, or damaged and removed.
template <typename Parse>
auto load_parts(const char* kind, uint32_t version, const Hash128& key, const ArtifactStore& store,
                const Context& context, Parse parse)
    -> std::optional<decltype(parse(std::span<const uint8_t>(), std::string()))> {
  if (!store.contains(kind, key)) return std::nullopt;
  const std::string name = store.path_of(kind, key).string();
  try {
    const MappedArtifact artifact(name);
    if (artifact.kind() != kind || artifact.key() != key)
      throw_input("{}: holds other data than its name says", name);
    if (artifact.version() != version) return std::nullopt;
    return parse(artifact.payload(), name);
  } catch (const InputError& error) {
    if (store.contains(kind, key)) store.discard(kind, key, error.what(), context);
    return std::nullopt;
  }
}

}  // namespace

void save_features(const FoldFeatures& fold, const Hash128& fold_key, const ArtifactStore& store) {
  std::array<std::vector<uint8_t>, kSplits> heads;
  std::array<uint64_t, 2 * kSplits> sizes{};
  std::vector<std::span<const uint8_t>> parts = {
      {reinterpret_cast<const uint8_t*>(sizes.data()), sizeof sizes}};
  size_t s = 0;
  for (const Dataset* split : {&fold.train, &fold.valid, &fold.test, fold.source ? &*fold.source : nullptr}) {
    if (split == nullptr) break;
    heads[s] = head_of(*split);
    parts.emplace_back(heads[s]);
    parts.push_back(bytes_of(split->values()));
    sizes[2 * s] = heads[s].size();
    sizes[2 * s + 1] = parts.back().size();
    ++s;
  }
  save_parts(kFeaturesKind, kFeaturesVersion, fold_key, parts, store);
}

std::optional<FoldFeatures> load_features(const Hash128& fold_key, const ArtifactStore& store,
                                          const Context& context) {
  return load_parts(kFeaturesKind, kFeaturesVersion, fold_key, store, context, parse_fold);
}

Hash128 StoredBins::key(const Dataset& data, size_t max_bins, BinLayout layout) {
  return Hasher()
      .text("bins")
      .hash(data.fingerprint())
      .number(max_bins)
      .number(static_cast<uint64_t>(layout))
      .digest();
}

void StoredBins::save(const Dataset& data, size_t max_bins, const Bins& bins) {
  BinaryWriter head;
  bins.cuts->save(head);
  const uint64_t size = head.bytes().size();
  const std::span<const uint8_t> parts[] = {
      {reinterpret_cast<const uint8_t*>(&size), sizeof size}, head.bytes(), bins.data->content()};
  save_parts(kBinsKind, kBinsVersion, key(data, max_bins, bins.data->layout()), parts, store_);
}

std::optional<Bins> StoredBins::load(const Dataset& data, size_t max_bins, BinLayout layout,
                                     const Context& context) {
  return load_parts(kBinsKind, kBinsVersion, key(data, max_bins, layout), store_, context,
                    [&](std::span<const uint8_t> payload, const std::string& name) {
                      uint64_t size = 0;
                      if (payload.size() < sizeof size)
                        throw_input("{}: damaged file: it ends too early", name);
                      std::memcpy(&size, payload.data(), sizeof size);
                      payload = payload.subspan(sizeof size);
                      if (size > payload.size()) throw_input("{}: damaged file: it ends too early", name);
                      BinaryReader in(payload.subspan(0, size), name);
                      const auto cuts = std::make_shared<const BinCuts>(BinCuts::load(in));
                      in.expect_end();
                      if (cuts->features() != data.features()) in.fail("it has bins of other features");
                      return Bins{cuts, std::make_shared<const BinnedDataset>(data.documents(), *cuts, layout,
                                                                              payload.subspan(size))};
                    });
}

}  // namespace tunemix
