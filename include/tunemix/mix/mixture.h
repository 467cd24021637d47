// A finished mixture: calibrated models with weights, and how their scores are put together (spec, section
// 5).
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tunemix/calibrate/spec.h"
#include "tunemix/core/binary.h"
#include "tunemix/core/context.h"
#include "tunemix/data/query_index.h"

namespace tunemix {

// kQuery: each member is standardised within each query before summing; a constant member becomes 0.
enum class Normalize : uint8_t { kNone, kQuery };

// One calibrated model. Members are summed in the order of these fields, whatever order they come in.
struct Member {
  std::string family;  // of learners whose members share a mass
  CalibrationKind kind = CalibrationKind::kCpc;
  int64_t checkpoint = 0;   // boosting length T; 0: the model has none
  std::string model;        // id of the model, all its bags together
  std::string calibration;  // "cpc.ls"

  auto operator<=>(const Member&) const = default;
  std::string name() const;  // "boosting/MODEL@100/cpc.ls"
};

// The scores of all documents by the given member; called from several threads at once.
using MemberSource = std::function<std::span<const float>(size_t member)>;

// The share of a mixture's weight that the members of one family have.
struct FamilyMass {
  std::string family;
  double mass = 0;
};

class Mixture {
 public:
  Mixture() = default;
  Mixture(std::vector<Member> members, std::vector<double> weights, Normalize normalize, double c,
          int64_t checkpoint);

  const std::vector<Member>& members() const { return members_; }
  const std::vector<double>& weights() const { return weights_; }  // sum to 1
  std::vector<FamilyMass> families() const;  // in the order of the members; the masses sum to 1
  Normalize normalize() const { return normalize_; }
  double c() const { return c_; }
  int64_t checkpoint() const { return checkpoint_; }  // 0: no member has one, or all are in

  // The ensemble's scores; `source` numbers the members as members() does.
  void apply(const MemberSource& source, const QueryIndex& queries, std::span<float> out,
             const Context& context) const;

  void save(BinaryWriter& out) const;
  static Mixture load(BinaryReader& in);

 private:
  std::vector<Member> members_;
  std::vector<double> weights_;
  Normalize normalize_ = Normalize::kQuery;
  double c_ = 0;
  int64_t checkpoint_ = 0;
};

}  // namespace tunemix
