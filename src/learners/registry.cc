#include "tunemix/learners/registry.h"

#include "learners/adaboost_mh/learner.h"
#include "learners/scores/learner.h"
#include "learners/svm/learner.h"

namespace tunemix {

Registry& registry() {
  static Registry all = [] {
    Registry r;
    r.add(adaboost_mh_learner());
    r.add(svm_learner());
    r.add(scores_learner());
    return r;
  }();
  return all;
}

}  // namespace tunemix
