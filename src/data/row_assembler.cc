#include "data/row_assembler.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "data/side_files.h"
#include "tunemix/core/error.h"

namespace tunemix {

void RowAssembler::read(RowSource& source, const std::filesystem::path& group_file,
                        const std::filesystem::path& weight_file) {
  const size_t before = rows_;
  while (add(source)) context_->check_stop();
  const std::string& name = source.name();
  if (rows_ == before) throw_input("{}: no documents, expected at least one line with one", name);
  if (!source.has_queries()) add_groups(name, group_file, before);
  if (!weight_file.empty()) {
    weights_.resize(before, 1.0F);
    const std::vector<float> weights = read_weights(weight_file, name, rows_ - before);
    weights_.insert(weights_.end(), weights.begin(), weights.end());
  }
  (source.has_queries() ? any_qids_ : any_groups_) = true;
  if (any_groups_ && any_qids_)
    throw_input("{}: {}; expected all files of a data set alike", name,
                source.has_queries() ? "has qids, other files have group sizes"
                                     : "has group sizes, other files have qids");
}

bool RowAssembler::add(RowSource& source) {
  const std::span<const RowBlock> blocks = source.next(width_);
  add_feature_names(source.feature_names(), source.name());
  size_t width = width_;
  size_t added = 0;
  std::vector<size_t> first_row;
  for (const RowBlock& block : blocks) {
    widest_ = std::max(widest_, block.max_id);
    if (with_features_) width = std::max(width, block.max_id);
    first_row.push_back(rows_ + added);
    added += block.rows;
  }
  if (rows_ + added > std::numeric_limits<uint32_t>::max())
    throw_input("{}: too many documents, expected less than 2^32 in a data set", source.name());
  widen(width);
  features_.resize((rows_ + added) * width_);
  context_->pool().run(blocks.size(), [&](size_t i) { place(blocks[i], first_row[i]); });
  for (const RowBlock& block : blocks) append_rows(block);
  return !blocks.empty();
}

Dataset RowAssembler::finish() {
  if (!weights_.empty()) weights_.resize(rows_, 1.0F);
  std::vector<uint32_t> order = grouped_order();
  if (!order.empty()) {
    context_->warn("rows of a query are not adjacent; they are grouped in order of first appearance");
    permute_rows(order);
  }
  features_.shrink_to_fit();
  std::vector<size_t> offsets(query_ids_.size() + 1, 0);
  for (const Segment& s : segments_) offsets[s.query + 1] += s.rows;
  for (size_t q = 0; q < query_ids_.size(); ++q) offsets[q + 1] += offsets[q];
  return Dataset(std::move(features_), width_,
                 {.labels = std::move(labels_),
                  .queries = QueryIndex(std::move(offsets), std::move(query_ids_)),
                  .names = std::move(names_),
                  .source_rows = std::move(order),
                  .weights = std::move(weights_)})
      .named(feature_names_);
}

std::optional<Dataset> RowAssembler::take_finished_queries() {
  if (segments_.size() < 2) return std::nullopt;
  RowAssembler rest = split_last_query();
  Dataset data = finish();
  *this = std::move(rest);
  return data;
}

// What has been read of the last query, taken out of this.
RowAssembler RowAssembler::split_last_query() {
  RowAssembler rest(width_, with_features_, *context_);
  const size_t rows = segments_.back().rows;
  const size_t first = rows_ - rows;
  rest.add_segment(query_ids_[segments_.back().query], rows);
  rest.rows_ = rows;
  rest.widest_ = widest_;
  rest.feature_names_ = feature_names_;
  rest.named_by_ = named_by_;
  rest.features_ = FloatBuffer(features_.values().subspan(first * width_));
  rest.labels_.assign(labels_.begin() + static_cast<ptrdiff_t>(first), labels_.end());
  if (names_.size() > 0) {
    NameTable before;
    for (size_t i = 0; i < rows_; ++i) (i < first ? before : rest.names_).add(names_[i]);
    names_ = std::move(before);
  }
  features_.resize(first * width_);
  labels_.resize(first);
  query_ids_.pop_back();
  segments_.pop_back();
  rows_ = first;
  return rest;
}

// Of the files of a data set some may have no names; those that have must agree.
void RowAssembler::add_feature_names(FeatureNames names, const std::string& file) {
  if (names.empty() || file == named_by_) return;
  if (!feature_names_.empty() && feature_names_ != names)
    throw_input("{}: its head has other names of features than that of {}; expected the same", file,
                named_by_);
  feature_names_ = std::move(names);
  named_by_ = file;
}

// Copies the rows of a block to their final place.
void RowAssembler::place(const RowBlock& block, size_t first_row) {
  const size_t shared = std::min(block.stride, width_);
  float* to = features_.data() + first_row * width_;
  if (block.stride == width_) {
    if (block.rows * width_ > 0) std::memcpy(to, block.values.data(), block.rows * width_ * sizeof(float));
    return;
  }
  for (size_t i = 0; i < block.rows; ++i, to += width_) {
    std::copy_n(block.values.data() + i * block.stride, shared, to);
    std::fill(to + shared, to + width_, 0.0F);
  }
}

void RowAssembler::widen(size_t width) {
  if (width == width_) return;
  features_.resize(rows_ * width);
  for (size_t i = rows_; i-- > 0;) {
    float* to = features_.data() + i * width;
    std::memmove(to, features_.data() + i * width_, width_ * sizeof(float));
    std::fill(to + width_, to + width, 0.0F);
  }
  width_ = width;
}

void RowAssembler::append_rows(const RowBlock& block) {
  labels_.insert(labels_.end(), block.labels.begin(),
                 block.labels.begin() + static_cast<ptrdiff_t>(block.rows));
  for (size_t k = 0; k < block.queries.size(); ++k) {
    const size_t end = k + 1 < block.queries.size() ? block.queries[k + 1].first_row : block.rows;
    add_segment(block.queries[k].id, end - block.queries[k].first_row);
  }
  if (block.names.size() > 0 || names_.size() > 0) {
    while (names_.size() < rows_ + (block.names.size() > 0 ? block.first_named : block.rows)) names_.add({});
    for (size_t i = 0; i < block.names.size(); ++i) names_.add(block.names[i]);
  }
  rows_ += block.rows;
}

void RowAssembler::add_segment(std::string_view id, size_t rows) {
  if (!segments_.empty() && query_ids_[segments_.back().query] == id) {
    segments_.back().rows += rows;
    return;
  }
  const auto [it, fresh] = query_of_.try_emplace(std::string(id), query_ids_.size());
  if (fresh) query_ids_.emplace_back(id);
  if (!fresh && apart_.empty()) apart_ = id;
  segments_.push_back({it->second, rows});
}

void RowAssembler::add_groups(const std::string& name, const std::filesystem::path& file, size_t before) {
  size_t total = 0;
  for (const size_t size : read_group_sizes(file)) {
    total += size;
    add_segment(std::to_string(query_ids_.size() + 1), size);
  }
  if (total != rows_ - before)
    throw_input("{}: the group sizes add up to {}, expected {}, the documents of {}", file.string(), total,
                rows_ - before, name);
}

// Old row of each new row when queries must be brought together; empty when they are already.
std::vector<uint32_t> RowAssembler::grouped_order() const {
  if (apart_.empty()) return {};
  std::vector<size_t> next(query_ids_.size() + 1, 0);
  for (const Segment& s : segments_) next[s.query + 1] += s.rows;
  for (size_t q = 0; q + 1 < next.size(); ++q) next[q + 1] += next[q];
  std::vector<uint32_t> order(rows_);
  uint32_t row = 0;
  for (const Segment& s : segments_)
    for (size_t i = 0; i < s.rows; ++i) order[next[s.query]++] = row++;
  return order;
}

// Row i becomes what row order[i] was, cycle by cycle, so that the matrix is not copied.
void RowAssembler::permute_rows(std::span<const uint32_t> order) {
  std::vector<bool> done(rows_, false);
  std::vector<float> held(width_);
  const auto row = [&](size_t i) { return features_.data() + i * width_; };
  for (size_t start = 0; start < rows_; ++start) {
    if (done[start]) continue;
    std::copy_n(row(start), width_, held.begin());
    size_t i = start;
    for (; order[i] != start; i = order[i]) {
      std::copy_n(row(order[i]), width_, row(i));
      done[i] = true;
    }
    std::copy_n(held.begin(), width_, row(i));
    done[i] = true;
  }
  std::vector<int32_t> labels(rows_);
  for (size_t i = 0; i < rows_; ++i) labels[i] = labels_[order[i]];
  labels_ = std::move(labels);
  if (!weights_.empty()) {
    std::vector<float> weights(rows_);
    for (size_t i = 0; i < rows_; ++i) weights[i] = weights_[order[i]];
    weights_ = std::move(weights);
  }
  if (names_.size() == 0) return;
  NameTable names;
  for (size_t i = 0; i < rows_; ++i) names.add(names_[order[i]]);
  names_ = std::move(names);
}

}  // namespace tunemix
