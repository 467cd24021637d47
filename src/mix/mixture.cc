#include "tunemix/mix/mixture.h"

#include <algorithm>
#include <cmath>

#include "mix/chunks.h"
#include "mix/sums.h"

namespace tunemix {

std::string Member::name() const {
  std::string text = family + "/" + model;
  if (checkpoint > 0) text += fmt::format("@{}", checkpoint);
  return text + "/" + calibration;
}

Mixture::Mixture(std::vector<Member> members, std::vector<double> weights, Normalize normalize, double c,
                 int64_t checkpoint)
    : members_(std::move(members)),
      weights_(std::move(weights)),
      normalize_(normalize),
      c_(c),
      checkpoint_(checkpoint) {
  require(members_.size() == weights_.size(), "a mixture needs one weight per member");
  require(std::is_sorted(members_.begin(), members_.end()), "members of a mixture are in their own order");
}

std::vector<FamilyMass> Mixture::families() const {
  std::vector<FamilyMass> result;
  for (size_t m = 0; m < members_.size(); ++m) {
    if (result.empty() || result.back().family != members_[m].family)
      result.push_back({members_[m].family, 0});
    result.back().mass += weights_[m];
  }
  return result;
}

void Mixture::apply(const MemberSource& source, const QueryIndex& queries, std::span<float> out,
                    const Context& context) const {
  require(out.size() == queries.documents(), "room for one score a document is needed");
  constexpr size_t kDocuments = 512;
  const std::vector<mixing::Chunk> chunks = mixing::make_chunks(queries, kDocuments);
  context.pool().run(chunks.size(), [&](size_t index) {
    context.check_stop();
    const mixing::Chunk& chunk = chunks[index];
    std::vector<double> prepared(chunk.documents()), sums(chunk.documents());
    for (size_t m = 0; m < members_.size(); ++m) {
      mixing::prepare_scores(source(m), queries, chunk, normalize_, prepared.data());
      mixing::sum_kernels().add(weights_[m], prepared.data(), sums.size(), sums.data());
    }
    for (size_t i = 0; i < sums.size(); ++i) out[chunk.begin + i] = mixing::finish_score(sums[i], normalize_);
  });
}

void Mixture::save(BinaryWriter& out) const {
  out.put<uint64_t>(members_.size());
  for (const Member& member : members_) {
    out.put(member.family);
    out.put(member.kind);
    out.put(member.checkpoint);
    out.put(member.model);
    out.put(member.calibration);
  }
  out.put(weights_);
  out.put(normalize_);
  out.put(c_);
  out.put(checkpoint_);
}

Mixture Mixture::load(BinaryReader& in) {
  std::vector<Member> members(in.get_count(33));  // the least that a member takes
  for (Member& member : members) {
    member.family = in.get_string();
    member.kind = in.get<CalibrationKind>();
    member.checkpoint = in.get<int64_t>();
    member.model = in.get_string();
    member.calibration = in.get_string();
    if (member.kind > CalibrationKind::kRbc) in.fail("a member of the mixture is of an unknown kind");
  }
  std::vector<double> weights = in.get_vector<double>();
  const auto normalize = in.get<Normalize>();
  const double c = in.get<double>();
  const auto checkpoint = in.get<int64_t>();
  if (weights.size() != members.size() || normalize > Normalize::kQuery ||
      !std::is_sorted(members.begin(), members.end()))
    in.fail("the parts of the mixture do not fit each other");
  for (const double weight : weights)
    if (!(weight >= 0) || !std::isfinite(weight)) in.fail("a weight of the mixture is not a finite number");
  return {std::move(members), std::move(weights), normalize, c, checkpoint};
}

}  // namespace tunemix
