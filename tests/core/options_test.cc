#include "tunemix/core/options.h"

#include <gtest/gtest.h>

namespace tunemix {
namespace {

enum class Colour { kRed, kBlue };
struct Paint {
  int coats = 2;
  double gloss = 0.1;
  bool dry = false;
  Colour colour = Colour::kRed;
};

OptionTable<Paint> table() {
  OptionTable<Paint> t;
  t.number("coats", &Paint::coats, 1, 9, "how many");
  t.number("gloss", &Paint::gloss, 0.0, 1.0, "how shiny");
  t.flag("dry", &Paint::dry, "wait");
  t.choice("colour", &Paint::colour, {{"red", Colour::kRed}, {"blue", Colour::kBlue}}, "which");
  return t;
}

std::string message(std::string_view key, std::string_view value) {
  Paint paint;
  try {
    table().set(paint, key, value);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(OptionTable, SetsEveryKind) {
  Paint paint;
  const auto t = table();
  t.set(paint, "coats", "5");
  t.set(paint, "gloss", "2.5e-1");
  t.set(paint, "dry", "true");
  t.set(paint, "colour", "blue");
  EXPECT_EQ(paint.coats, 5);
  EXPECT_EQ(paint.gloss, 0.25);
  EXPECT_TRUE(paint.dry);
  EXPECT_EQ(paint.colour, Colour::kBlue);
}

TEST(OptionTable, SaysWhatWasExpected) {
  EXPECT_EQ(message("coats", "10"), "coats is '10'; expected a whole number from 1 to 9");
  EXPECT_EQ(message("coats", "5x"), "coats is '5x'; expected a whole number from 1 to 9");
  EXPECT_EQ(message("coats", "2.0"), "coats is '2.0'; expected a whole number from 1 to 9");
  EXPECT_EQ(message("gloss", "nan"), "gloss is 'nan'; expected a number from 0 to 1");
  EXPECT_EQ(message("dry", "yes"), "dry is 'yes'; expected true or false");
  EXPECT_EQ(message("colour", "blu"), "colour is 'blu'; expected one of: red, blue; did you mean 'blue'?");
  EXPECT_EQ(message("coat", "3"),
            "unknown option 'coat'; did you mean 'coats'?; expected one of: coats, gloss, dry, colour");
}

TEST(OptionTable, TextRoundTrips) {
  Paint paint;
  paint.gloss = 1.0 / 3;
  Paint copy;
  const auto t = table();
  for (const auto& entry : t.entries()) entry.set(copy, entry.get(paint));
  EXPECT_EQ(copy.gloss, paint.gloss);
}

}  // namespace
}  // namespace tunemix
