"""python metricframe.py FILE: the counts and rates of groups as fairlearn gives them, for the line fairlearn of test/perf.

Prints the counts by label, prediction, sex and age_band as a JSON object.
"""

import json
import sys

import pandas
from fairlearn.metrics import MetricFrame, count, false_negative_rate, selection_rate
from sklearn.metrics import accuracy_score

cases = pandas.read_csv(
    sys.argv[1],
    usecols=["id", "label", "prediction", "sex", "age_band"],
    dtype={"id": "int64", "label": "Int8", "prediction": "Int8", "sex": "category", "age_band": "category"},
)
assert cases["id"].is_unique
columns = ["label", "prediction", "sex", "age_band"]
groups = cases.groupby(columns, dropna=False, observed=True).size()
known = cases.dropna(subset=["label", "prediction"])
rates = MetricFrame(
    metrics={"count": count, "accuracy": accuracy_score, "false_negative": false_negative_rate, "selection": selection_rate},
    y_true=known["label"].astype("int8"),
    y_pred=known["prediction"].astype("int8"),
    sensitive_features=known["sex"],
)
assert rates.by_group["count"].sum() == len(known)
assert rates.difference()["false_negative"] >= 0
print(json.dumps({"|".join("" if pandas.isna(v) else str(v) for v in key): int(n) for key, n in groups.items()}))
