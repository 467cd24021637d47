#include "tunemix/data/letor_reader.h"

#include <fast_float/fast_float.h>
#include <fmt/os.h>

#include <charconv>
#include <cmath>
#include <unordered_map>

#include "tunemix/core/binary.h"
#include "tunemix/core/error.h"

namespace tunemix {
namespace {

struct Rows {
  std::vector<std::vector<std::pair<uint32_t, float>>> features;
  std::vector<int32_t> labels;
  std::vector<std::string> qids;
  NameTable names;
};

std::string_view document_name(std::string_view comment) {
  const size_t key = comment.find("docid");
  if (key == std::string_view::npos) return {};
  size_t at = comment.find('=', key);
  if (at == std::string_view::npos) return {};
  at = comment.find_first_not_of(" \t", at + 1);
  if (at == std::string_view::npos) return {};
  return comment.substr(at, comment.find_first_of(" \t\r", at) - at);
}

void parse_text(std::string_view text, std::string_view name, const LetorOptions& options, Rows& rows) {
  size_t line_number = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    ++line_number;
    std::string_view comment;
    if (const size_t hash = line.find('#'); hash != std::string_view::npos) {
      comment = line.substr(hash + 1);
      line = line.substr(0, hash);
    }
    std::vector<std::string_view> tokens;
    for (size_t i = 0; i < line.size();) {
      i = line.find_first_not_of(" \t\r", i);
      if (i == std::string_view::npos) break;
      const size_t stop = std::min(line.find_first_of(" \t\r", i), line.size());
      tokens.push_back(line.substr(i, stop - i));
      i = stop;
    }
    if (tokens.empty()) continue;
    int32_t label = 0;
    auto [p, ec] = std::from_chars(tokens[0].data(), tokens[0].data() + tokens[0].size(), label);
    if (options.unlabelled && label == -1) label = 0;
    const int most = options.num_labels > 0 ? options.num_labels - 1 : options.max_label;
    if (ec != std::errc() || p != tokens[0].data() + tokens[0].size() || label < 0 || label > most)
      throw_input("{}:{}: label '{}', expected a whole number from 0 to {}", name, line_number, tokens[0],
                  most);
    if (tokens.size() < 2 || !tokens[1].starts_with("qid:") || tokens[1].size() == 4)
      throw_input("{}:{}: no qid, expected 'qid:ID' after the label", name, line_number);
    rows.labels.push_back(label);
    rows.qids.emplace_back(tokens[1].substr(4));
    rows.names.add(document_name(comment));
    auto& row = rows.features.emplace_back();
    uint32_t last = 0;
    for (size_t t = 2; t < tokens.size(); ++t) {
      const char* stop = tokens[t].data() + tokens[t].size();
      uint32_t id = 0;
      auto [colon, id_ec] = std::from_chars(tokens[t].data(), stop, id);
      float value = 0;
      if (id_ec != std::errc() || colon == stop || *colon != ':' || id <= last || id > options.max_feature_id)
        throw_input("{}:{}: '{}', expected a feature 'id:value' with rising ids", name, line_number,
                    tokens[t]);
      auto [value_end, value_ec] = fast_float::from_chars(colon + 1, stop, value);
      if (value_ec != std::errc() || value_end != stop || !std::isfinite(value))
        throw_input("{}:{}: '{}', expected a finite number after the colon", name, line_number, tokens[t]);
      last = id;
      row.emplace_back(id, value);
    }
  }
}

Dataset assemble(Rows rows, const LetorOptions& options, const Context& context) {
  std::unordered_map<std::string, size_t> query_of;
  std::vector<std::string> ids;
  std::vector<std::vector<size_t>> members;
  bool adjacent = true;
  size_t d = options.num_features;
  for (size_t i = 0; i < rows.labels.size(); ++i) {
    const auto [it, fresh] = query_of.try_emplace(rows.qids[i], ids.size());
    if (fresh) {
      ids.push_back(rows.qids[i]);
      members.emplace_back();
    } else if (it->second + 1 != ids.size()) {
      adjacent = false;
    }
    members[it->second].push_back(i);
    if (!rows.features[i].empty()) d = std::max<size_t>(d, rows.features[i].back().first);
  }
  if (!adjacent)
    context.warn("rows of a query are not adjacent; they are grouped in order of first appearance");
  std::vector<float> features(rows.labels.size() * d);
  std::vector<int32_t> labels;
  std::vector<size_t> offsets = {0};
  NameTable names;
  std::vector<uint32_t> source_rows;
  for (const auto& query : members) {
    for (const size_t i : query) {
      if (!adjacent) source_rows.push_back(static_cast<uint32_t>(i));
      for (const auto& [id, value] : rows.features[i]) features[labels.size() * d + id - 1] = value;
      labels.push_back(rows.labels[i]);
      names.add(rows.names[i]);
    }
    offsets.push_back(labels.size());
  }
  return Dataset(std::move(features), d, std::move(labels), QueryIndex(std::move(offsets), std::move(ids)),
                 std::move(names), std::move(source_rows));
}

}  // namespace

Dataset read_letor(std::span<const std::filesystem::path> files, const LetorOptions& options,
                   const Context& context) {
  Rows rows;
  for (const auto& file : files) {
    const size_t before = rows.labels.size();
    parse_text(read_text_file(file), file.string(), options, rows);
    if (rows.labels.size() == before)
      throw_input("{}: no documents, expected at least one line", file.string());
  }
  return assemble(std::move(rows), options, context);
}

Dataset read_letor(const std::filesystem::path& file, const LetorOptions& options, const Context& context) {
  return read_letor(std::span(&file, 1), options, context);
}

Dataset parse_letor(std::string_view text, std::string_view name, const LetorOptions& options,
                    const Context& context) {
  Rows rows;
  parse_text(text, name, options, rows);
  if (rows.labels.empty()) throw_input("{}: no documents, expected at least one line", name);
  return assemble(std::move(rows), options, context);
}

void write_letor(const Dataset& data, const std::filesystem::path& file, bool dense) {
  fmt::memory_buffer out;
  for (size_t q = 0; q < data.queries().size(); ++q)
    for (size_t i = data.queries().begin(q); i < data.queries().end(q); ++i) {
      fmt::format_to(std::back_inserter(out), "{} qid:{}", data.labels()[i], data.queries().id(q));
      for (size_t j = 0; j < data.features(); ++j)
        if (dense || data.row(i)[j] != 0)
          fmt::format_to(std::back_inserter(out), " {}:{}", j + 1, data.row(i)[j]);
      if (data.names().size() > 0 && !data.names()[i].empty())
        fmt::format_to(std::back_inserter(out), " #docid = {}", data.names()[i]);
      out.push_back('\n');
    }
  write_file_atomically(file, std::string_view(out.data(), out.size()));
}

}  // namespace tunemix
