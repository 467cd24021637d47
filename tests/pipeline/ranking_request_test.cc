// Requests of the scoring service, as data sets.
#include "pipeline/serve/ranking_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunemix/data/missing.h"

namespace tunemix::serve {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(RankingRequest, WordsAndNumbersOfCategoriesAreNumbered) {
  FeatureNames names;
  names.set(1, "brand");
  const BundleInput expected{.features = 3, .names = names, .categorical = {1}};
  const auto parse = [&](const std::string& body) { return parse_json_request(body, expected, {}); };
  const RankingRequest request = parse(R"({"documents": [
      {"features": [1, "acme", null]}, {"features": {"brand": 7, "3": 0.5}}, {"features": {"1": 2}},
      {"features": {"2": "acme"}}, {"features": [0, "7", 0]}, {"features": [0, null, 0]}]})");
  const std::vector<std::string>& words = *request.data.about().words.of(1);
  EXPECT_THAT(words, ElementsAre("0", "acme", "7"));
  std::vector<std::string> values;
  for (size_t i = 0; i < 6; ++i) {
    const float value = request.data.row(i)[1];
    values.push_back(is_missing(value) ? "missing" : words[static_cast<size_t>(value)]);
  }
  EXPECT_THAT(values, ElementsAre("acme", "7", "0", "acme", "7", "missing"));
  EXPECT_TRUE(is_missing(request.data.row(0)[2]));
  EXPECT_EQ(request.data.row(1)[2], 0.5F);
  EXPECT_EQ(request.data.about().words.of(0), nullptr);
  const auto refusal = [&](const std::string& body) -> std::string {
    try {
      parse(body);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(
      refusal(R"({"documents": [{"features": [1, 0.5, 1]}]})"),
      HasSubstr("document 1 has 0.5 for feature 2, which is categorical; expected a word or a whole number"));
  EXPECT_THAT(refusal(R"({"documents": [{"features": ["acme", 1, 1]}]})"), HasSubstr("expected numbers"));
  EXPECT_THAT(refusal(R"({"documents": [{"features": [1, 1, 1, "x"]}]})"), HasSubstr("expected numbers"));
  EXPECT_THAT(refusal(R"({"documents": [{"id": "d", "features": [1, "x", 1, 2]}]})"),
              HasSubstr("more than 3 features"));
}

}  // namespace
}  // namespace tunemix::serve
