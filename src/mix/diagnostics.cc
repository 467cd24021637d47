#include "mix/diagnostics.h"

#include "mix/finished.h"

namespace tunemix::mixing {
namespace {

// Of one chunk: what the covariances of the members with the mixture are added up from.
struct Moments {
  double documents = 0;
  double mean = 0;  // of the mixture
  double squares = 0;
  struct OfMember {
    double sum = 0;
    double product = 0;  // with the mixture less its mean
  };
  std::vector<OfMember> members;
};

Moments moments_of(std::span<const float> mixed, const MixResult& result, PreparedChunk& members) {
  Moments moments;
  moments.documents = static_cast<double>(mixed.size());
  for (const float score : mixed) moments.mean += score;
  moments.mean /= moments.documents;
  for (const float score : mixed) moments.squares += (score - moments.mean) * (score - moments.mean);
  for (const size_t source : result.sources) {
    const std::vector<double>& own = members.member(source, result.mixture.normalize());
    Moments::OfMember& of_member = moments.members.emplace_back();
    for (size_t i = 0; i < own.size(); ++i) {
      of_member.sum += own[i];
      of_member.product += own[i] * (mixed[i] - moments.mean);
    }
  }
  return moments;
}

std::vector<MemberDiagnostics> diagnose(const MixResult& result, std::span<const double> omega,
                                        std::span<const Moments> chunks) {
  double documents = 0;
  double mean = 0;
  for (const Moments& chunk : chunks) {
    documents += chunk.documents;
    mean += chunk.mean * chunk.documents;
  }
  mean /= documents;
  double variance = 0;
  std::vector<double> covariance(result.sources.size(), 0.0);
  for (const Moments& chunk : chunks) {
    const double shift = chunk.mean - mean;
    variance += chunk.squares + chunk.documents * shift * shift;
    for (size_t m = 0; m < covariance.size(); ++m)
      covariance[m] += chunk.members[m].product + shift * chunk.members[m].sum;
  }
  std::vector<MemberDiagnostics> diagnostics;
  for (size_t m = 0; m < covariance.size(); ++m) {
    const double weight = result.mixture.weights()[m];
    diagnostics.push_back(
        {omega[result.sources[m]], weight, variance > 0 ? weight * covariance[m] / variance : 0});
  }
  return diagnostics;
}

}  // namespace

void complete(std::vector<MixResult>& results, const MemberSource& source, const ValidationData& validation,
              std::span<const double> omega, const SelectionName& metric_name, const Context& context) {
  const size_t chunks = make_chunks(validation.queries, kFinishedChunk).size();
  std::vector<std::vector<Moments>> moments(results.size(), std::vector<Moments>(chunks));
  for (MixResult& result : results) result.scores.resize(validation.queries.documents());
  for_each_mixed(
      results, source, validation.queries, context,
      [&](size_t index, const Chunk& chunk, PreparedChunk& members, size_t v, std::span<const float> scores) {
        std::copy(scores.begin(), scores.end(), results[v].scores.data() + chunk.begin);
        moments[v][index] = moments_of(scores, results[v], members);
      });
  const SelectionMetric metric(validation.queries, validation.labels, validation.grades, metric_name,
                               validation.weights);
  for (size_t v = 0; v < results.size(); ++v) {
    results[v].validation = metric(results[v].scores);
    results[v].diagnostics = diagnose(results[v], omega, moments[v]);
  }
}

}  // namespace tunemix::mixing
