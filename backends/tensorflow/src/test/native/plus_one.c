// SPDX-License-Identifier: Apache-2.0
// A library with an operation of its own, as users build them: PlusOne adds 1 to each number.
#include <stddef.h>
#include <stdint.h>

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;

TF_Status *TF_NewStatus(void);
void TF_DeleteStatus(TF_Status *status);

void *TF_NewOpDefinitionBuilder(const char *name);
void TF_OpDefinitionBuilderAddInput(void *builder, const char *input);
void TF_OpDefinitionBuilderAddOutput(void *builder, const char *output);
void TF_OpDefinitionBuilderSetShapeInferenceFunction(void *builder, void (*infer)(void *context, TF_Status *status));
void TF_RegisterOpDefinition(void *builder, TF_Status *status);

void *TF_NewKernelBuilder(const char *operation, const char *device, void *(*create)(void *construction),
                          void (*compute)(void *kernel, void *context), void (*destroy)(void *kernel));
void TF_RegisterKernelBuilder(const char *name, void *builder, TF_Status *status);

void TF_GetInput(void *context, int index, TF_Tensor **tensor, TF_Status *status);
TF_Tensor *TF_AllocateOutput(void *context, int index, int type, const int64_t *dims, int rank, size_t length,
                             TF_Status *status);
int TF_NumDims(const TF_Tensor *tensor);
int64_t TF_Dim(const TF_Tensor *tensor, int index);
size_t TF_TensorByteSize(const TF_Tensor *tensor);
void *TF_TensorData(const TF_Tensor *tensor);
void TF_DeleteTensor(TF_Tensor *tensor);

enum { FLOAT = 1, MOST_DIMS = 8 };

static void infer_shape(void *context, TF_Status *status) {
}

static void *create(void *construction) {
    return NULL;
}

static void destroy(void *kernel) {
}

static void compute(void *kernel, void *context) {
    TF_Status *status = TF_NewStatus();
    TF_Tensor *input = NULL;
    TF_GetInput(context, 0, &input, status);
    int64_t dims[MOST_DIMS];
    int rank = TF_NumDims(input);
    for (int i = 0; i < rank && i < MOST_DIMS; i++) {
        dims[i] = TF_Dim(input, i);
    }
    size_t length = TF_TensorByteSize(input);
    TF_Tensor *output = TF_AllocateOutput(context, 0, FLOAT, dims, rank, length, status);
    const float *from = TF_TensorData(input);
    float *to = TF_TensorData(output);
    for (size_t i = 0; i < length / sizeof(float); i++) {
        to[i] = from[i] + 1;
    }
    TF_DeleteTensor(output);
    TF_DeleteTensor(input);
    TF_DeleteStatus(status);
}

__attribute__((constructor)) static void register_operation(void) {
    TF_Status *status = TF_NewStatus();
    void *operation = TF_NewOpDefinitionBuilder("PlusOne");
    TF_OpDefinitionBuilderAddInput(operation, "x: float");
    TF_OpDefinitionBuilderAddOutput(operation, "y: float");
    TF_OpDefinitionBuilderSetShapeInferenceFunction(operation, infer_shape);
    TF_RegisterOpDefinition(operation, status);
    TF_RegisterKernelBuilder("PlusOne", TF_NewKernelBuilder("PlusOne", "CPU", create, compute, destroy), status);
    TF_DeleteStatus(status);
}
