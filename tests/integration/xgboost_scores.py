# Scores of LETOR data by an XGBoost model: xgboost_scores.py MODEL DATA FEATURES, one a line. Exits with 77 where there is no
# xgboost.
import sys

try:
    import numpy
    import xgboost
except ImportError:
    sys.exit(77)

model, data, features = sys.argv[1], sys.argv[2], int(sys.argv[3])
rows = []
for line in open(data):
    row = numpy.zeros(features, dtype=numpy.float32)
    for word in line.split("#")[0].split()[2:]:
        feature, value = word.split(":")
        row[int(feature) - 1] = numpy.float32(value)
    rows.append(row)
booster = xgboost.Booster()
booster.load_model(model)
for score in booster.predict(xgboost.DMatrix(numpy.array(rows)), output_margin=True):
    print(repr(float(score)))
