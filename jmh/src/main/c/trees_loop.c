/*
 * The baselines of TreesComparison: predictions of XGBoost's and LightGBM's C APIs in a loop, as a C program would ask for them. Built by
 * the benchmark's setup; the functions come as pointers, since the libraries are opened by the process already.
 */
#include <stdint.h>
#include <string.h>

typedef int (*xgb_predict)(void *booster, const char *rows, const char *settings, void *matrix, const uint64_t **shape, uint64_t *rank,
                           const float **result);
typedef int (*lgb_predict)(void *booster, const void *rows, int type, int32_t count, int32_t columns, int row_major, int predict_type,
                           int first, int iterations, const char *parameters, int64_t *length, double *result);
typedef int (*lgb_predict_row)(void *prepared, const void *row, int64_t *length, double *result);

/* Asks `count` times, and copies each answer of `length` bytes to where it belongs; returns the first result that is not 0. */
int xgb_loop(xgb_predict predict, void *booster, const char *rows, const char *settings, void *target, long length, long count) {
    int failed = 0;
    for (long i = 0; i < count && failed == 0; i++) {
        const uint64_t *shape;
        uint64_t rank;
        const float *result;
        failed = predict(booster, rows, settings, 0, &shape, &rank, &result);
        if (failed == 0) {
            memcpy(target, result, length);
        }
    }
    return failed;
}

/* The same of LightGBM, which writes doubles where it is told to. */
int lgb_loop(lgb_predict predict, void *booster, const void *rows, int row_count, int columns, const char *parameters, double *target,
             long count) {
    int failed = 0;
    int64_t length;
    for (long i = 0; i < count && failed == 0; i++) {
        failed = predict(booster, rows, 0, row_count, columns, 1, 0, 0, -1, parameters, &length, target);
    }
    return failed;
}

/* The same for a single row, whose settings are read once. */
int lgb_row_loop(lgb_predict_row predict, void *prepared, const void *row, double *target, long count) {
    int failed = 0;
    int64_t length;
    for (long i = 0; i < count && failed == 0; i++) {
        failed = predict(prepared, row, &length, target);
    }
    return failed;
}
