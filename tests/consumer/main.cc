// Reads LETOR text, trains AdaBoost.MH, scores and evaluates: the way a program uses the installed library.
#include <tunemix/data/letor_reader.h>
#include <tunemix/learners/registry.h>
#include <tunemix/metric/evaluator.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

// Two features: the first tells the label, the second tells nothing.
std::string letor_text() {
  std::string text;
  for (int query = 1; query <= 20; ++query)
    for (int document = 0; document < 6; ++document) {
      const int label = (document + query) % 3;
      text += std::to_string(label) + " qid:" + std::to_string(query) +
              " 1:" + std::to_string(label * 10 + document) + " 2:" + std::to_string(query * document % 7) +
              "\n";
    }
  return text;
}

}  // namespace

int main() {
  using namespace tunemix;
  const Context context(2, 1);
  const Dataset data = parse_letor(letor_text(), "made up", {}, context);

  const LearnerEntry& learner = registry().expect("adaboost_mh");
  BinCache bins(data);
  const TrainingData training(bins);
  const auto trainer = learner.start({training, learner.complete({{"leaves", "4"}}), {20}}, context);
  while (!trainer->step(0)) continue;
  const std::unique_ptr<Model> model = trainer->model();
  const size_t last[] = {model->points().size() - 1};
  const ScoreMatrix scores = model->score(data, last, context)[0];

  // A document's score: its labels, weighted by their votes.
  std::vector<double> ranking(data.documents());
  for (size_t i = 0; i < data.documents(); ++i)
    for (size_t label = 0; label < scores.columns(); ++label)
      ranking[i] += static_cast<double>(label) * scores.row(i)[label];

  const Evaluation evaluation = Evaluator(data, {preset("yahoo")})(ranking, context.pool()).front();
  std::printf("NDCG@10 %.4f over %zu queries\n", evaluation.ndcg(10), evaluation.queries);
  return evaluation.queries == 20 && evaluation.ndcg(10) > 0.99 ? 0 : 1;
}
