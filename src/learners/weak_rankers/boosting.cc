#include "learners/weak_rankers/boosting.h"

#include "tunemix/core/timer.h"

namespace tunemix::weak {
namespace {

class BoostingTrainer : public Trainer {
 public:
  BoostingTrainer(std::string type, const TrainingRequest& request, std::unique_ptr<Method> method,
                  std::vector<WeakRanker> so_far, const Context& context)
      : type_(std::move(type)),
        features_(request.data.all().features()),
        lengths_(request.lengths),
        method_(std::move(method)),
        rankers_(std::move(so_far)),
        context_(context) {
    if (lengths_.empty()) lengths_ = {std::stoll(setting(request.settings, "round"))};
    for (const WeakRanker& ranker : rankers_) method_->add(ranker);
  }

  bool step(double seconds) override {
    const Timer timer;
    const auto wanted = static_cast<size_t>(lengths_.back());
    while (!ended_ && rankers_.size() < wanted) {
      context_.check_stop();
      const std::optional<WeakRanker> ranker = method_->next();
      if (!ranker) {
        ended_ = true;
        break;
      }
      method_->add(*ranker);
      rankers_.push_back(*ranker);
      context_.progress(rankers_.size(), wanted, ranker->weight);
      if (seconds > 0 && timer.seconds() > seconds) break;
    }
    return ended_ || rankers_.size() >= wanted;
  }

  // A resumed run may be longer than what is asked for now.
  std::unique_ptr<Model> model() const override {
    const WeakRankerModel all(type_, features_, lengths_, rankers_);
    std::vector<size_t> points(lengths_.size());
    for (size_t p = 0; p < points.size(); ++p) points[p] = p;
    return all.keep(points);
  }
  void save_state(BinaryWriter& out) const override { weak::save(out, rankers_); }
  Facts facts() const override { return {{"rounds", static_cast<int64_t>(rankers_.size())}}; }

 private:
  std::string type_;
  size_t features_;
  std::vector<int64_t> lengths_;
  std::unique_ptr<Method> method_;
  std::vector<WeakRanker> rankers_;
  const Context& context_;
  bool ended_ = false;
};

}  // namespace

void complete_entry(
    LearnerEntry& entry,
    const std::function<std::unique_ptr<Method>(const TrainingRequest&, const Context&)>& method) {
  entry.one_column = true;
  entry.weights = WeightUse::kQuery;
  entry.resumable = true;
  entry.start = [type = entry.type, method](const TrainingRequest& request, const Context& context) {
    return std::make_unique<BoostingTrainer>(type, request, method(request, context),
                                             std::vector<WeakRanker>(), context);
  };
  entry.resume = [type = entry.type, method](const TrainingRequest& request, BinaryReader& state,
                                             const Context& context) {
    return std::make_unique<BoostingTrainer>(type, request, method(request, context),
                                             load_rankers(state, request.data.all().features()), context);
  };
  entry.load = WeakRankerModel::load;
}

}  // namespace tunemix::weak
