/*
 * What Gatun calls of XGBoost's C API (libxgboost4j.so of its Java package, or libxgboost.so); declared by ourselves, since the headers do
 * not come with the libraries. Functions return 0, or -1 with a text in XGBGetLastError() of the same thread.
 */
#ifndef GATUN_XGBOOST_H
#define GATUN_XGBOOST_H

#include <stdint.h>

typedef void *BoosterHandle;
typedef void *DMatrixHandle;

void XGBoostVersion(int *major, int *minor, int *patch);
const char *XGBGetLastError(void);
/* Settings of the calling thread, as JSON. */
int XGBSetGlobalConfig(const char *config);

int XGBoosterCreate(const DMatrixHandle matrices[], uint64_t count, BoosterHandle *out);
int XGBoosterFree(BoosterHandle booster);
/* A model in JSON or UBJSON. */
int XGBoosterLoadModelFromBuffer(BoosterHandle booster, const void *buffer, uint64_t length);
int XGBoosterSetParam(BoosterHandle booster, const char *name, const char *value);
int XGBoosterGetNumFeature(BoosterHandle booster, uint64_t *out);
/* The settings as JSON, in memory of the library that the next call of this thread for this booster takes back. */
int XGBoosterSaveJsonConfig(BoosterHandle booster, uint64_t *length, const char **out);

/* The rows, and what is asked of them, as JSON. Results lie in memory that the next call of this thread for this booster takes back. */
int XGBoosterPredictFromDense(BoosterHandle booster, const char *array, const char *config, DMatrixHandle matrix, const uint64_t **shape,
                              uint64_t *rank, const float **result);
int XGBoosterPredictFromDMatrix(BoosterHandle booster, DMatrixHandle matrix, const char *config, const uint64_t **shape, uint64_t *rank,
                                const float **result);
/* Copies the rows. */
int XGDMatrixCreateFromDense(const char *array, const char *config, DMatrixHandle *out);
int XGDMatrixFree(DMatrixHandle matrix);

#endif
