// YAML with a memory of where each value stands, for messages "file:line:column: key: ...".
#pragma once

#include <yaml-cpp/yaml.h>

#include <map>
#include <string>
#include <vector>

#include "tunemix/core/options.h"

namespace tunemix {

// Collects every value that was read, in order, and where it came from; written out as the resolved config.
class ResolvedLog {
 public:
  void add(std::string path, std::string value, std::string origin) {
    entries_.push_back({std::move(path), std::move(value), std::move(origin)});
  }
  // A list of texts that may hold any characters.
  void add_texts(std::string path, const std::vector<std::string>& texts, std::string origin);
  std::string yaml() const;
  std::map<std::string, std::string> values() const;

 private:
  struct Entry {
    std::string path;  // a.b.0.c
    std::string value;
    std::string origin;
  };
  std::vector<Entry> entries_;
};

// "; it is called 'X' here" for a name from another program, "; did you mean 'X'?" for a misspelt one, or
// nothing.
std::string suggestion(const std::string& key, const std::vector<std::string>& known);

class YamlDocument {
 public:
  // Throws InputError for text that is no YAML or an override that is not `a.b=c`. Text without a name is of
  // a calling program: its lines mean nothing to the reader of a message.
  YamlDocument(const std::string& text, std::string name, const std::vector<std::string>& overrides);

  YAML::Node root() const { return root_; }
  bool overridden(const std::string& path) const;
  // "file:line:column" of a node, "command line", or "config" where the text has no name.
  std::string place(const YAML::Node& node, const std::string& path) const;
  [[noreturn]] void fail(const YAML::Node& node, const std::string& path, const std::string& what) const;

 private:
  std::string name_;
  YAML::Node root_;
  std::vector<std::string> overridden_;
};

// One map of the document: reads known keys, refuses unknown ones.
class YamlSection {
 public:
  YamlSection(const YamlDocument& document, const YAML::Node& node, std::string path);

  // Throws unless every key is one of `known`.
  void expect_keys(const std::vector<std::string>& known) const;
  bool has(const std::string& key) const;
  YAML::Node child(const std::string& key) const;
  YamlSection section(const std::string& key) const;
  std::string path_of(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  // The value of a scalar or of a list of scalars as text that an OptionTable entry reads.
  std::string text(const std::string& key) const;
  // A map of scalars as `{a: b, c: d}`; a scalar as it is.
  std::string map_text(const std::string& key) const;
  // The items of a list of scalars; a scalar is a list of one.
  std::vector<std::string> items(const std::string& key) const;
  [[noreturn]] void fail(const std::string& key, const std::string& what) const;
  std::string origin(const std::string& key) const;
  // "file:line:column: path" of the section itself.
  std::string place() const { return fmt::format("{}: {}", document_.place(node_, path_), path_); }
  const YamlDocument& document() const { return document_; }
  const std::string& path() const { return path_; }

  // Sets every field of `target` that the section has, and logs all of them.
  template <typename Struct>
  void read(const OptionTable<Struct>& table, Struct& target, ResolvedLog& log) const {
    for (const auto& entry : table.entries()) {
      if (has(entry.name)) set(entry, target);
      log.add(path_of(entry.name), entry.get(target), origin(entry.name));
    }
  }
  template <typename Entry, typename Struct>
  void set(const Entry& entry, Struct& target) const {
    set_text(entry, target, text(entry.name));
  }
  template <typename Entry, typename Struct>
  void set_text(const Entry& entry, Struct& target, const std::string& value) const {
    try {
      entry.set(target, value);
    } catch (const InputError& error) {
      fail(entry.name, error.what());
    }
  }

 private:
  const YamlDocument& document_;
  YAML::Node node_;
  std::string path_;
};

}  // namespace tunemix
