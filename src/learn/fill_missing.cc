#include "learn/fill_missing.h"

#include "tunemix/learn/composed_model.h"

namespace tunemix {
namespace {

using Start = std::function<std::unique_ptr<Trainer>(const TrainingRequest&)>;

class FilledTrainer final : public Trainer {
 public:
  FilledTrainer(const TrainingRequest& request, const Context& context, const Start& start)
      : fill_(request.data.cache().fill(context)),
        data_(request.data.cache().filled(context), request.data.query_numbers(), request.data.label_count(),
              {request.data.grades().begin(), request.data.grades().end()}) {
    if (request.valid != nullptr) valid_ = fill_.apply(*request.valid, context);
    trainer_ =
        start({data_, request.settings, request.lengths, valid_ ? &*valid_ : nullptr, request.targets});
  }

  bool step(double seconds) override { return trainer_->step(seconds); }
  std::unique_ptr<Model> model() const override {
    return std::make_unique<ComposedModel>(trainer_->model(), FeatureMap::filling(fill_));
  }
  void save_state(BinaryWriter& out) const override { trainer_->save_state(out); }
  Facts facts() const override { return trainer_->facts(); }

 private:
  const FeatureFill& fill_;
  TrainingData data_;
  std::optional<Dataset> valid_;
  std::unique_ptr<Trainer> trainer_;
};

}  // namespace

void fill_missing(LearnerEntry& entry) {
  entry.start = [start = entry.start](const TrainingRequest& request, const Context& context) {
    return std::make_unique<FilledTrainer>(
        request, context, [&](const TrainingRequest& filled) { return start(filled, context); });
  };
  if (!entry.resume) return;
  entry.resume = [resume = entry.resume](const TrainingRequest& request, BinaryReader& state,
                                         const Context& context) {
    return std::make_unique<FilledTrainer>(
        request, context, [&](const TrainingRequest& filled) { return resume(filled, state, context); });
  };
}

}  // namespace tunemix
