// Click logs as graded data: a position-based model tells how far down people look from how much a document
// attracts them.
//
//   P(click on d at rank r for query q) = examination(r) * attraction(q, d),   examination(1) = 1
//
// (Richardson, Dominowska, Ragno 2007; Craswell et al. 2008), fitted by expectation maximisation.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "tunemix/core/context.h"
#include "tunemix/data/dataset.h"

namespace tunemix {

// What a log says, added up: how often a document was shown and clicked at each rank for its query.
struct ClickCounts {
  struct Shown {
    uint32_t rank;  // from 0
    double times;
    double clicks;
  };
  struct Document {
    std::string name;
    std::vector<Shown> shown;  // by rank
  };
  struct Query {
    std::string id;
    std::vector<Document> documents;  // by name: the order that they were shown in is no hint
  };
  std::vector<Query> queries;  // in order of first appearance
  size_t sessions = 0;
  size_t clicks = 0;
  size_t ranks = 0;  // the longest list shown
};

// A session a line, three columns separated by tabs: the query, its documents as they were ranked, and the
// ranks from 1 that were clicked, both separated by blanks; no third column is no click. Lines that are blank
// or begin with '#' are skipped. Throws InputError "file:line: what, what was expected".
ClickCounts parse_clicks(std::string_view text, std::string_view name);
ClickCounts read_clicks(const std::filesystem::path& file);  // plain or compressed; `-`: standard input

struct ClickModelOptions {
  int iterations = 1000;
  double tolerance = 1e-7;  // largest change of a probability in the last step
  double prior = 2;         // examinations of average attraction that each document is given beforehand
};

struct ClickModel {
  std::vector<double> examination;              // by rank
  std::vector<std::vector<double>> attraction;  // by query and document of the counts
  std::vector<std::vector<double>> examined;    // how often each was looked at, by expectation
  double log_likelihood = 0;                    // of the log, without the prior
  int iterations = 0;
  bool converged = false;
};

ClickModel fit_click_model(const ClickCounts& counts, const ClickModelOptions& options,
                           const Context& context);

struct ClickGradeOptions {
  int grades = 5;
  double top = 0;  // the attraction of the highest grade; 0: the largest there is
  double prior = 2;
};

// The data set that the model makes of the log. A document has the label l whose probability to stop at,
// (2^l - 1) / (2^(grades-1) - 1), is nearest to its attraction over `top`, and the weight e / (e + prior) for
// e expected examinations: what little was looked at counts little. With `features`, a data set whose
// documents are joined by query and name, or by name where its query is "*"; those without a row are left out
// and counted in `missing`. Throws InputError where nothing is left.
Dataset grade_clicks(const ClickCounts& counts, const ClickModel& model, const ClickGradeOptions& options,
                     const Dataset* features, size_t& missing);

}  // namespace tunemix
