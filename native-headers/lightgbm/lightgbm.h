/*
 * What Gatun calls of LightGBM's C API (lib_lightgbm.so); declared by ourselves, since the headers do not come with the libraries. Functions
 * return 0, or -1 with a text in LGBM_GetLastError() of the same thread.
 */
#ifndef GATUN_LIGHTGBM_H
#define GATUN_LIGHTGBM_H

#include <stdint.h>

typedef void *BoosterHandle;
typedef void *FastConfigHandle;

enum {
    C_API_DTYPE_FLOAT32 = 0,
    C_API_DTYPE_FLOAT64 = 1
};

enum {
    C_API_PREDICT_NORMAL = 0,
    C_API_PREDICT_RAW_SCORE = 1,
    C_API_PREDICT_LEAF_INDEX = 2,
    C_API_PREDICT_CONTRIB = 3
};

const char *LGBM_GetLastError(void);

/* A model as text, which ends with a zero byte. */
int LGBM_BoosterLoadModelFromString(const char *model, int *iterations, BoosterHandle *out);
int LGBM_BoosterFree(BoosterHandle booster);
int LGBM_BoosterGetNumFeature(BoosterHandle booster, int *out);
int LGBM_BoosterNumberOfTotalModel(BoosterHandle booster, int *out);
/* How many numbers a prediction gives for so many rows. */
int LGBM_BoosterCalcNumPredict(BoosterHandle booster, int rows, int predict_type, int first_iteration, int iterations, int64_t *out);

/* Writes doubles, one row's after the other's. */
int LGBM_BoosterPredictForMat(BoosterHandle booster, const void *data, int data_type, int32_t rows, int32_t columns, int is_row_major,
                              int predict_type, int first_iteration, int iterations, const char *parameters, int64_t *count,
                              double *result);
/* The same for single rows, whose settings are read once. */
int LGBM_BoosterPredictForMatSingleRowFastInit(BoosterHandle booster, int predict_type, int first_iteration, int iterations,
                                               int data_type, int32_t columns, const char *parameters, FastConfigHandle *out);
int LGBM_BoosterPredictForMatSingleRowFast(FastConfigHandle settings, const void *data, int64_t *count, double *result);
int LGBM_FastConfigFree(FastConfigHandle settings);

#endif
