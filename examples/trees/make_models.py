#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains the models in this folder, on numbers that are made up, and writes what their libraries predict.

    make_models.py FOLDER XGBOOST OLD_XGBOOST

XGBOOST is the library of XGBoost that `gatun install xgboost` installs, OLD_XGBOOST one of version 3.0 or older, which
still writes the binary format. It is called by its C API, as XGBoost's Python package does it; LightGBM is called by its
Python package. Needs numpy and lightgbm. FOLDER gets `models`, a repository, and `expected`: rows.json with the rows that
are asked about, and for each model a file with the numbers, in which null stands for a missing value.
"""

import ctypes
import json
import pathlib
import sys

import lightgbm
import numpy

ROWS = 24
FEATURES = 6
CATEGORICAL = 5  # This feature is one of eight categories.
CATEGORIES = 8


class XGBoost:
    """The few functions of XGBoost's C API that are needed here."""

    PREDICT, CONTRIBUTIONS, LEAVES = 0, 2, 6

    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.XGBGetLastError.restype = ctypes.c_char_p

    def check(self, result):
        if result != 0:
            raise RuntimeError(self.library.XGBGetLastError().decode())

    def matrix(self, rows, labels=None, categorical=False):
        rows = numpy.ascontiguousarray(rows, numpy.float32)
        handle = ctypes.c_void_p()
        self.check(
            self.library.XGDMatrixCreateFromMat(
                rows.ctypes.data_as(ctypes.c_void_p),
                ctypes.c_uint64(rows.shape[0]),
                ctypes.c_uint64(rows.shape[1]),
                ctypes.c_float(float("nan")),
                ctypes.byref(handle),
            )
        )
        if labels is not None:
            labels = numpy.ascontiguousarray(labels, numpy.float32)
            self.check(
                self.library.XGDMatrixSetFloatInfo(
                    handle, b"label", labels.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(len(labels))
                )
            )
        if categorical:
            kinds = [b"c" if i == CATEGORICAL else b"q" for i in range(FEATURES)]
            self.check(
                self.library.XGDMatrixSetStrFeatureInfo(
                    handle, b"feature_type", (ctypes.c_char_p * FEATURES)(*kinds), ctypes.c_uint64(FEATURES)
                )
            )
        return handle

    def train(self, matrix, rounds, **parameters):
        booster = ctypes.c_void_p()
        self.check(
            self.library.XGBoosterCreate((ctypes.c_void_p * 1)(matrix), ctypes.c_uint64(1), ctypes.byref(booster))
        )
        for name, value in dict(parameters, seed=7, nthread=1).items():
            self.check(self.library.XGBoosterSetParam(booster, name.encode(), str(value).encode()))
        for i in range(rounds):
            self.check(self.library.XGBoosterUpdateOneIter(booster, i, matrix))
        return booster

    def save(self, booster, file):
        file.parent.mkdir(parents=True, exist_ok=True)
        # The library tells the format by the end of the name; the old one is called "deprecated".
        made = file.with_suffix(".deprecated") if file.suffix == ".model" else file
        self.check(self.library.XGBoosterSaveModel(booster, str(made).encode()))
        made.rename(file)

    def load(self, file):
        booster = ctypes.c_void_p()
        self.check(self.library.XGBoosterCreate(None, ctypes.c_uint64(0), ctypes.byref(booster)))
        content = file.read_bytes()
        self.check(self.library.XGBoosterLoadModelFromBuffer(booster, content, ctypes.c_uint64(len(content))))
        return booster

    def predict(self, booster, matrix, kind):
        settings = json.dumps(
            {"type": kind, "training": False, "iteration_begin": 0, "iteration_end": 0, "strict_shape": False}
        )
        shape = ctypes.POINTER(ctypes.c_uint64)()
        rank = ctypes.c_uint64()
        numbers = ctypes.POINTER(ctypes.c_float)()
        self.check(
            self.library.XGBoosterPredictFromDMatrix(
                booster,
                matrix,
                settings.encode(),
                ctypes.byref(shape),
                ctypes.byref(rank),
                ctypes.byref(numbers),
            )
        )
        dims = [shape[i] for i in range(rank.value)]
        return numpy.ctypeslib.as_array(numbers, shape=(int(numpy.prod(dims)),)).copy().reshape(ROWS, -1)


def data(count, seed):
    """Rows with gaps, and what is to be learnt from them."""
    random = numpy.random.default_rng(seed)
    rows = random.normal(size=(count, FEATURES)).astype(numpy.float32)
    rows[:, CATEGORICAL] = random.integers(0, CATEGORIES, count)
    target = rows[:, 0] + rows[:, 1] * rows[:, 2] + numpy.where(rows[:, CATEGORICAL] % 3 == 1, 2, 0)
    rows[random.random((count, FEATURES)) < 0.1] = numpy.nan
    return rows, target


def numbers(array):
    """As lists, so that reading them gives the very same numbers again."""
    return [[None if numpy.isnan(number) else float(number) for number in row] for row in numpy.asarray(array)]


def write(file, content):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(content).replace("], [", "],\n [") + "\n")


def make_xgboost(folder, path, old_path, rows, training, target):
    models = {
        "xgb_regression": ("xgboost.ubj", {"objective": "reg:squarederror"}, target),
        "xgb_binary": ("xgboost.json", {"objective": "binary:logistic"}, target > 0),
        "xgb_classes": ("xgboost.ubj", {"objective": "multi:softprob", "num_class": 3}, numpy.digitize(target, [0, 1])),
        "xgb_choice": ("xgboost.json", {"objective": "multi:softmax", "num_class": 3}, numpy.digitize(target, [0, 1])),
        "xgb_categorical": ("xgboost.json", {"objective": "binary:logistic", "max_cat_to_onehot": 2}, target > 0),
        "xgb_dart": ("xgboost.ubj", {"objective": "count:poisson", "booster": "dart", "rate_drop": 0.2}, abs(target)),
        "xgb_forest": ("xgboost.ubj", {"objective": "binary:logistic", "num_parallel_tree": 4, "subsample": 0.5}, target > 0),
        "xgb_binary_format": ("xgboost.model", {"objective": "binary:logistic"}, target > 0),
        "xgb_classes_binary_format": (
            "xgboost.model",
            {"objective": "multi:softprob", "num_class": 3},
            numpy.digitize(target, [0, 1]),
        ),
        "xgb_dart_binary_format": ("xgboost.model", {"objective": "reg:squarederror", "booster": "dart", "rate_drop": 0.3}, target),
    }
    for name, (file_name, parameters, labels) in models.items():
        library = XGBoost(old_path if file_name == "xgboost.model" else path)
        categorical = name == "xgb_categorical"
        matrix = library.matrix(training, labels, categorical)
        booster = library.train(matrix, 5, max_depth=3, tree_method="hist", **parameters)
        file = folder / "models" / name / "1" / file_name
        library.save(booster, file)
        booster = library.load(file)
        asked = library.matrix(rows, categorical=categorical)
        write(
            folder / "expected" / (name + ".json"),
            {
                "value": numbers(library.predict(booster, asked, XGBoost.PREDICT)),
                "contributions": numbers(library.predict(booster, asked, XGBoost.CONTRIBUTIONS)),
                "leaves": numbers(library.predict(booster, asked, XGBoost.LEAVES)),
            },
        )


def make_lightgbm(folder, rows, training, target):
    models = {
        "lgb_regression": ({"objective": "regression"}, target),
        "lgb_binary": ({"objective": "binary"}, target > 0),
        "lgb_classes": ({"objective": "multiclass", "num_class": 3}, numpy.digitize(target, [0, 1])),
        "lgb_each_class": ({"objective": "multiclassova", "num_class": 3}, numpy.digitize(target, [0, 1])),
        "lgb_forest": ({"objective": "binary", "boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1}, target > 0),
        "lgb_dart": ({"objective": "poisson", "boosting": "dart"}, abs(target)),
        "lgb_linear": ({"objective": "regression", "linear_tree": True}, target),
    }
    for name, (parameters, labels) in models.items():
        settings = dict(
            parameters, verbose=-1, num_leaves=6, min_data_in_leaf=5, min_data_per_group=5, seed=7, num_threads=1,
            deterministic=True, force_row_wise=True,
        )
        dataset = lightgbm.Dataset(training, labels, categorical_feature=[CATEGORICAL])
        booster = lightgbm.train(settings, dataset, 5)
        file = folder / "models" / name / "1" / "model.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        booster.save_model(file)
        booster = lightgbm.Booster(model_file=file)
        expected = {
            "value": numbers(booster.predict(rows).reshape(ROWS, -1)),
            "leaves": numbers(booster.predict(rows, pred_leaf=True).reshape(ROWS, -1)),
        }
        if name != "lgb_linear":  # LightGBM has no SHAP values for these.
            expected["contributions"] = numbers(booster.predict(rows, pred_contrib=True).reshape(ROWS, -1))
        write(folder / "expected" / (name + ".json"), expected)


def main():
    folder, path, old_path = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    training, target = data(400, 1)
    rows, _ = data(ROWS, 2)
    write(folder / "expected" / "rows.json", numbers(rows))
    make_xgboost(folder, path, old_path, rows, training, target)
    make_lightgbm(folder, rows, training, target)


if __name__ == "__main__":
    main()
