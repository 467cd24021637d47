#include "tunemix/learners/registry.h"

#include "learners/adaboost_mh/learner.h"
#include "learners/gradient_trees/learners.h"
#include "learners/linear/learners.h"
#include "learners/random/learner.h"
#include "learners/scores/learner.h"
#include "learners/svm/learner.h"
#include "learners/weak_rankers/learners.h"

namespace tunemix {

Registry& registry() {
  static Registry all = [] {
    Registry r;
    r.add(adaboost_mh_learner());
    r.add(svm_learner());
    r.add(trees::lambdamart().entry);
    r.add(trees::mart().entry);
    r.add(trees::query_rmse().entry);
    r.add(trees::logitboost().entry);
    r.add(trees::yetirank().entry);
    r.add(trees::xendcg().entry);
    r.add(trees::random_forest().entry);
    r.add(trees::extra_trees().entry);
    r.add(best_feature_learner());
    r.add(linear_regression_learner());
    r.add(ranksvm_learner());
    r.add(ranknet_learner());
    r.add(listnet_learner());
    r.add(coordinate_ascent_learner());
    r.add(adarank_learner());
    r.add(rankboost_learner());
    r.add(frank_learner());
    r.add(random_learner());
    r.add(scores_learner());
    return r;
  }();
  return all;
}

}  // namespace tunemix
