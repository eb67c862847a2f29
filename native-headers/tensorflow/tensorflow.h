/*
 * What Gatun calls of TensorFlow's C API (libtensorflow_cc.so.2 with libtensorflow_framework.so.2, or libtensorflow.so.2); declared by
 * ourselves, since the headers do not come with the libraries.
 */
#ifndef GATUN_TENSORFLOW_H
#define GATUN_TENSORFLOW_H

#include <stddef.h>
#include <stdint.h>

typedef struct TF_Status TF_Status;
typedef struct TF_Tensor TF_Tensor;
typedef struct TF_Library TF_Library;
typedef struct TF_Graph TF_Graph;
typedef struct TF_Operation TF_Operation;
typedef struct TF_Session TF_Session;
typedef struct TF_SessionOptions TF_SessionOptions;

typedef enum TF_Code {
    TF_OK = 0,
    TF_CANCELLED = 1,
    TF_UNKNOWN = 2,
    TF_INVALID_ARGUMENT = 3,
    TF_DEADLINE_EXCEEDED = 4,
    TF_NOT_FOUND = 5,
    TF_ALREADY_EXISTS = 6,
    TF_PERMISSION_DENIED = 7,
    TF_RESOURCE_EXHAUSTED = 8,
    TF_FAILED_PRECONDITION = 9,
    TF_ABORTED = 10,
    TF_OUT_OF_RANGE = 11,
    TF_UNIMPLEMENTED = 12,
    TF_INTERNAL = 13,
    TF_UNAVAILABLE = 14,
    TF_DATA_LOSS = 15,
    TF_UNAUTHENTICATED = 16
} TF_Code;

typedef enum TF_DataType {
    TF_FLOAT = 1,
    TF_DOUBLE = 2,
    TF_INT32 = 3,
    TF_UINT8 = 4,
    TF_INT16 = 5,
    TF_INT8 = 6,
    TF_STRING = 7,
    TF_COMPLEX64 = 8,
    TF_INT64 = 9,
    TF_BOOL = 10,
    TF_QINT8 = 11,
    TF_QUINT8 = 12,
    TF_QINT32 = 13,
    TF_BFLOAT16 = 14,
    TF_QINT16 = 15,
    TF_QUINT16 = 16,
    TF_UINT16 = 17,
    TF_COMPLEX128 = 18,
    TF_HALF = 19,
    TF_UINT32 = 22,
    TF_UINT64 = 23,
    TF_FLOAT8_E5M2 = 24,
    TF_FLOAT8_E4M3FN = 25,
    TF_INT4 = 29,
    TF_UINT4 = 30
} TF_DataType;

/* One output of an operation: what is fed and fetched. */
typedef struct TF_Output {
    TF_Operation *oper;
    int index;
} TF_Output;

/* Bytes that the library wrote, with what frees them. */
typedef struct TF_Buffer {
    const void *data;
    size_t length;
    void (*data_deallocator)(void *data, size_t length);
} TF_Buffer;

/* An element of a tensor of strings: short ones lie inside, long ones elsewhere. */
typedef struct TF_TString {
    uint64_t words[3];
} TF_TString;

/* Called once nothing reads the memory of a tensor any more. */
typedef void (*TF_Deallocator)(void *data, size_t length, void *argument);

const char *TF_Version(void);

/* Loads operations and kernels from a shared library, for the life of the process. */
TF_Library *TF_LoadLibrary(const char *path, TF_Status *status);

TF_Status *TF_NewStatus(void);
void TF_DeleteStatus(TF_Status *status);
TF_Code TF_GetCode(const TF_Status *status);
const char *TF_Message(const TF_Status *status);

TF_Tensor *TF_NewTensor(TF_DataType type, const int64_t *dims, int rank, void *data, size_t length,
                        TF_Deallocator deallocator, void *argument);
TF_Tensor *TF_AllocateTensor(TF_DataType type, const int64_t *dims, int rank, size_t length);
void TF_DeleteTensor(TF_Tensor *tensor);
TF_DataType TF_TensorType(const TF_Tensor *tensor);
int TF_NumDims(const TF_Tensor *tensor);
int64_t TF_Dim(const TF_Tensor *tensor, int index);
void *TF_TensorData(const TF_Tensor *tensor);
/* Makes a tensor that of a serialized TensorProto, whatever it was before. */
void TF_TensorFromProto(const TF_Buffer *from, TF_Tensor *to, TF_Status *status);

/* A string of zeros is an empty one. */
void TF_StringCopy(TF_TString *target, const char *source, size_t length);
const char *TF_StringGetDataPointer(const TF_TString *string);
size_t TF_StringGetSize(const TF_TString *string);
void TF_StringDealloc(TF_TString *string);

TF_Graph *TF_NewGraph(void);
void TF_DeleteGraph(TF_Graph *graph);
TF_Operation *TF_GraphOperationByName(TF_Graph *graph, const char *name);

TF_SessionOptions *TF_NewSessionOptions(void);
void TF_DeleteSessionOptions(TF_SessionOptions *options);
/* A serialized ConfigProto. */
void TF_SetConfig(TF_SessionOptions *options, const void *config, size_t length, TF_Status *status);

TF_Session *TF_LoadSessionFromSavedModel(const TF_SessionOptions *options, const TF_Buffer *run_options, const char *directory,
                                         const char *const *tags, int tag_count, TF_Graph *graph, TF_Buffer *meta_graph,
                                         TF_Status *status);
void TF_CloseSession(TF_Session *session, TF_Status *status);
void TF_DeleteSession(TF_Session *session, TF_Status *status);
void TF_SessionRun(TF_Session *session, const TF_Buffer *run_options, const TF_Output *inputs, TF_Tensor *const *input_values,
                   int input_count, const TF_Output *outputs, TF_Tensor **output_values, int output_count,
                   const TF_Operation *const *targets, int target_count, TF_Buffer *run_metadata, TF_Status *status);

#endif
