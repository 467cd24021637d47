#include "tunemix/data/documents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tunemix/core/error.h"

namespace tunemix {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Documents full() {
  Documents result{.labels = {0, 1, 2},
                   .queries = QueryIndex({0, 1, 3}, {"a", "b"}),
                   .source_rows = {2, 0, 1},
                   .weights = {0.5F, 1, 2}};
  for (const char* name : {"x", "", "z"}) result.names.add(name);
  return result;
}

std::vector<std::string> names_of(const Documents& documents) {
  std::vector<std::string> names;
  for (size_t i = 0; i < documents.names.size(); ++i) names.emplace_back(documents.names[i]);
  return names;
}

std::vector<uint8_t> saved(const Documents& documents) {
  BinaryWriter out;
  documents.save(out);
  return {out.bytes().begin(), out.bytes().end()};
}

TEST(Documents, SelectedQueriesKeepTheirPartsButTheirRows) {
  const Documents picked = full().select_queries(std::vector<size_t>{1, 0, 1});
  EXPECT_THAT(picked.labels, ElementsAre(1, 2, 0, 1, 2));
  EXPECT_THAT(picked.queries.ids(), ElementsAre("b", "a", "b"));
  EXPECT_THAT(picked.queries.offsets(), ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(names_of(picked), ElementsAre("", "z", "x", "", "z"));
  EXPECT_THAT(picked.weights, ElementsAre(1, 2, 0.5F, 1, 2));
  EXPECT_THAT(picked.source_rows, IsEmpty());
}

TEST(Documents, WhatSomeDoNotHaveIsFilledIn) {
  const Documents plain{.labels = {3, 4}, .queries = QueryIndex({0, 2}, {"c"})};
  Documents first = full();
  first.append(plain);
  EXPECT_THAT(first.labels, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(first.queries.ids(), ElementsAre("a", "b", "c"));
  EXPECT_THAT(first.queries.offsets(), ElementsAre(0, 1, 3, 5));
  EXPECT_THAT(names_of(first), ElementsAre("x", "", "z", "", ""));
  EXPECT_THAT(first.source_rows, ElementsAre(2, 0, 1, 3, 4));
  EXPECT_THAT(first.weights, ElementsAre(0.5F, 1, 2, 1, 1));

  Documents last = plain;
  last.append(full());
  EXPECT_THAT(names_of(last), ElementsAre("", "", "x", "", "z"));
  EXPECT_THAT(last.source_rows, ElementsAre(0, 1, 4, 2, 3));
  EXPECT_THAT(last.weights, ElementsAre(1, 1, 0.5F, 1, 2));

  Documents none = plain;
  none.append(plain);
  EXPECT_EQ(none.size(), 4U);
  EXPECT_THAT(names_of(none), IsEmpty());
  EXPECT_THAT(none.source_rows, IsEmpty());
  EXPECT_THAT(none.weights, IsEmpty());
}

TEST(Documents, AreReadAsTheyWereSaved) {
  for (const Documents& documents : {full(), Documents{}}) {
    const std::vector<uint8_t> bytes = saved(documents);
    BinaryReader in(bytes, "documents");
    const Documents read = Documents::load(in);
    in.expect_end();
    EXPECT_EQ(read.labels, documents.labels);
    EXPECT_EQ(read.queries.offsets(), documents.queries.offsets());
    EXPECT_EQ(read.queries.ids(), documents.queries.ids());
    EXPECT_EQ(names_of(read), names_of(documents));
    EXPECT_EQ(read.source_rows, documents.source_rows);
    EXPECT_EQ(read.weights, documents.weights);
  }
}

TEST(Documents, DamagedOnesAreRefused) {
  std::vector<Documents> bad(5, full());
  bad[0].labels[1] = -1;
  bad[1].labels.pop_back();
  bad[2].source_rows[0] = 1;
  bad[3].weights[0] = -1;
  bad[4].weights.pop_back();
  for (const Documents& documents : bad) {
    const std::vector<uint8_t> bytes = saved(documents);
    BinaryReader in(bytes, "documents");
    EXPECT_THROW(Documents::load(in), InputError);
  }
}

}  // namespace
}  // namespace tunemix
