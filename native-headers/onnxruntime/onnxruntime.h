/*
 * What Gatun calls of ONNX Runtime's C API, declared anew: the function table with the slots in use, and room for the
 * others.
 *
 * The real table has over 400 functions, of which jextract would make 55,000 lines. The table only ever grows at its
 * end, so that a slot, once published, keeps its place in every later library. table.py makes OrtApi.java of the slots
 * below. HeaderProbeTest compares each slot and constant with the real header where one is present, and a test calls the
 * real library.
 */
#ifndef GATUN_ONNXRUNTIME_H
#define GATUN_ONNXRUNTIME_H

#include <stddef.h>
#include <stdint.h>

/* The first version of the API that has all slots below: ONNX Runtime 1.15. */
#define GATUN_ORT_API_VERSION 15

typedef enum OrtErrorCode {
    ORT_OK = 0,
    ORT_FAIL = 1,
    ORT_INVALID_ARGUMENT = 2,
    ORT_NO_SUCHFILE = 3,
    ORT_NO_MODEL = 4,
    ORT_ENGINE_ERROR = 5,
    ORT_RUNTIME_EXCEPTION = 6,
    ORT_INVALID_PROTOBUF = 7,
    ORT_MODEL_LOADED = 8,
    ORT_NOT_IMPLEMENTED = 9,
    ORT_INVALID_GRAPH = 10,
    ORT_EP_FAIL = 11,
    ORT_MODEL_LOAD_CANCELED = 12,
    ORT_MODEL_REQUIRES_COMPILATION = 13,
    ORT_NOT_FOUND = 14,
    ORT_DEVICE_RESET = 15
} OrtErrorCode;

typedef enum OrtLoggingLevel {
    ORT_LOGGING_LEVEL_VERBOSE = 0,
    ORT_LOGGING_LEVEL_INFO = 1,
    ORT_LOGGING_LEVEL_WARNING = 2,
    ORT_LOGGING_LEVEL_ERROR = 3,
    ORT_LOGGING_LEVEL_FATAL = 4
} OrtLoggingLevel;

typedef enum ONNXType {
    ONNX_TYPE_UNKNOWN = 0,
    ONNX_TYPE_TENSOR = 1,
    ONNX_TYPE_SEQUENCE = 2,
    ONNX_TYPE_MAP = 3,
    ONNX_TYPE_OPAQUE = 4,
    ONNX_TYPE_SPARSETENSOR = 5,
    ONNX_TYPE_OPTIONAL = 6
} ONNXType;

typedef enum ONNXTensorElementDataType {
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED = 0,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT = 1,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8 = 2,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8 = 3,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16 = 4,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16 = 5,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32 = 6,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64 = 7,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING = 8,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL = 9,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16 = 10,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE = 11,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32 = 12,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64 = 13,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64 = 14,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128 = 15,
    ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 = 16
} ONNXTensorElementDataType;

typedef enum GraphOptimizationLevel {
    ORT_DISABLE_ALL = 0,
    ORT_ENABLE_BASIC = 1,
    ORT_ENABLE_EXTENDED = 2,
    ORT_ENABLE_ALL = 99
} GraphOptimizationLevel;

typedef enum ExecutionMode { ORT_SEQUENTIAL = 0, ORT_PARALLEL = 1 } ExecutionMode;

typedef enum OrtAllocatorType { OrtDeviceAllocator = 0, OrtArenaAllocator = 1 } OrtAllocatorType;

typedef enum OrtMemType { OrtMemTypeCPUInput = -2, OrtMemTypeCPUOutput = -1, OrtMemTypeDefault = 0 } OrtMemType;

/* Objects of the library; only it knows what is inside. */
typedef struct OrtAllocator OrtAllocator;
typedef struct OrtCUDAProviderOptionsV2 OrtCUDAProviderOptionsV2;
typedef struct OrtEnv OrtEnv;
typedef struct OrtIoBinding OrtIoBinding;
typedef struct OrtMemoryInfo OrtMemoryInfo;
typedef struct OrtModelMetadata OrtModelMetadata;
typedef struct OrtRunOptions OrtRunOptions;
typedef struct OrtSession OrtSession;
typedef struct OrtSessionOptions OrtSessionOptions;
typedef struct OrtStatus OrtStatus; /* NULL means success */
typedef struct OrtTensorTypeAndShapeInfo OrtTensorTypeAndShapeInfo;
typedef struct OrtThreadingOptions OrtThreadingOptions;
typedef struct OrtTypeInfo OrtTypeInfo;
typedef struct OrtValue OrtValue;

/* Threads of a pool, made and joined by Gatun. */
typedef void *OrtCustomThreadHandle;
typedef void (*OrtThreadWorkerFn)(void *param);
typedef OrtCustomThreadHandle (*OrtCustomCreateThreadFn)(void *options, OrtThreadWorkerFn worker, void *param);
typedef void (*OrtCustomJoinThreadFn)(OrtCustomThreadHandle handle);

#define STATUS(name, ...) OrtStatus *(*name)(__VA_ARGS__)
#define RELEASE(type) void (*Release##type)(Ort##type *)
#define RESERVED(first, count) void *reserved_##first[count]

struct OrtApi {
    RESERVED(0, 1);
    OrtErrorCode (*GetErrorCode)(const OrtStatus *status);
    const char *(*GetErrorMessage)(const OrtStatus *status);

    /* Environment */
    STATUS(CreateEnv, OrtLoggingLevel severity, const char *log_id, OrtEnv **out);
    RESERVED(4, 3);

    /* Sessions */
    STATUS(CreateSession, const OrtEnv *env, const char *model_path, const OrtSessionOptions *options,
           OrtSession **out);
    RESERVED(8, 1);
    STATUS(Run, OrtSession *session, const OrtRunOptions *run_options, const char *const *input_names,
           const OrtValue *const *inputs, size_t input_count, const char *const *output_names, size_t output_count,
           OrtValue **outputs);
    STATUS(CreateSessionOptions, OrtSessionOptions **options);
    STATUS(SetOptimizedModelFilePath, OrtSessionOptions *options, const char *path);
    RESERVED(12, 1);
    STATUS(SetSessionExecutionMode, OrtSessionOptions *options, ExecutionMode mode);
    RESERVED(14, 3);
    STATUS(DisableMemPattern, OrtSessionOptions *options);
    RESERVED(18, 1);
    STATUS(DisableCpuMemArena, OrtSessionOptions *options);
    RESERVED(20, 3);
    STATUS(SetSessionGraphOptimizationLevel, OrtSessionOptions *options, GraphOptimizationLevel level);
    STATUS(SetIntraOpNumThreads, OrtSessionOptions *options, int count);
    STATUS(SetInterOpNumThreads, OrtSessionOptions *options, int count);
    RESERVED(26, 4);

    /* What a model takes and gives */
    STATUS(SessionGetInputCount, const OrtSession *session, size_t *out);
    STATUS(SessionGetOutputCount, const OrtSession *session, size_t *out);
    RESERVED(32, 1);
    STATUS(SessionGetInputTypeInfo, const OrtSession *session, size_t index, OrtTypeInfo **type_info);
    STATUS(SessionGetOutputTypeInfo, const OrtSession *session, size_t index, OrtTypeInfo **type_info);
    RESERVED(35, 1);
    STATUS(SessionGetInputName, const OrtSession *session, size_t index, OrtAllocator *allocator, char **value);
    STATUS(SessionGetOutputName, const OrtSession *session, size_t index, OrtAllocator *allocator, char **value);
    RESERVED(38, 1);

    /* Options of one run */
    STATUS(CreateRunOptions, OrtRunOptions **out);
    RESERVED(40, 6);
    STATUS(RunOptionsSetTerminate, OrtRunOptions *options);
    STATUS(RunOptionsUnsetTerminate, OrtRunOptions *options);

    /* Values */
    STATUS(CreateTensorAsOrtValue, OrtAllocator *allocator, const int64_t *shape, size_t rank,
           ONNXTensorElementDataType type, OrtValue **out);
    STATUS(CreateTensorWithDataAsOrtValue, const OrtMemoryInfo *info, void *data, size_t byte_size,
           const int64_t *shape, size_t rank, ONNXTensorElementDataType type, OrtValue **out);
    RESERVED(50, 1);
    STATUS(GetTensorMutableData, OrtValue *value, void **out);
    RESERVED(52, 1);
    STATUS(GetStringTensorDataLength, const OrtValue *value, size_t *len);
    STATUS(GetStringTensorContent, const OrtValue *value, void *text, size_t byte_size, size_t *offsets,
           size_t count);

    /* Types and shapes */
    STATUS(CastTypeInfoToTensorInfo, const OrtTypeInfo *type_info, const OrtTensorTypeAndShapeInfo **out);
    RESERVED(56, 4);
    STATUS(GetTensorElementType, const OrtTensorTypeAndShapeInfo *info, ONNXTensorElementDataType *out);
    STATUS(GetDimensionsCount, const OrtTensorTypeAndShapeInfo *info, size_t *out);
    STATUS(GetDimensions, const OrtTensorTypeAndShapeInfo *info, int64_t *dimensions, size_t count);
    STATUS(GetSymbolicDimensions, const OrtTensorTypeAndShapeInfo *info, const char *names[], size_t count);
    RESERVED(64, 1);
    STATUS(GetTensorTypeAndShape, const OrtValue *value, OrtTensorTypeAndShapeInfo **out);
    RESERVED(66, 2);

    /* Memory */
    STATUS(CreateMemoryInfo, const char *name, OrtAllocatorType type, int id, OrtMemType mem_type,
           OrtMemoryInfo **out);
    STATUS(CreateCpuMemoryInfo, OrtAllocatorType type, OrtMemType mem_type, OrtMemoryInfo **out);
    RESERVED(70, 5);
    STATUS(AllocatorAlloc, OrtAllocator *allocator, size_t size, void **out);
    STATUS(AllocatorFree, OrtAllocator *allocator, void *p);
    RESERVED(77, 1);
    STATUS(GetAllocatorWithDefaultOptions, OrtAllocator **out);
    RESERVED(79, 13);

    /* Release */
    RELEASE(Env);
    RELEASE(Status);
    RELEASE(MemoryInfo);
    RELEASE(Session);
    RELEASE(Value);
    RELEASE(RunOptions);
    RELEASE(TypeInfo);
    RELEASE(TensorTypeAndShapeInfo);
    RELEASE(SessionOptions);
    RESERVED(101, 18);

    /* Threads shared by all sessions */
    STATUS(CreateEnvWithGlobalThreadPools, OrtLoggingLevel severity, const char *log_id,
           const OrtThreadingOptions *options, OrtEnv **out);
    STATUS(DisablePerSessionThreads, OrtSessionOptions *options);
    STATUS(CreateThreadingOptions, OrtThreadingOptions **out);
    RELEASE(ThreadingOptions);
    RESERVED(123, 2);

    /* Execution providers of this build */
    STATUS(GetAvailableProviders, char ***out, int *count);
    STATUS(ReleaseAvailableProviders, char **names, int count);

    /* Strings, one by one */
    STATUS(GetStringTensorElementLength, const OrtValue *value, size_t index, size_t *out);
    STATUS(GetStringTensorElement, const OrtValue *value, size_t byte_size, size_t index, void *text);
    RESERVED(129, 1);

    /* More options of sessions */
    STATUS(AddSessionConfigEntry, OrtSessionOptions *options, const char *key, const char *value);
    STATUS(CreateAllocator, const OrtSession *session, const OrtMemoryInfo *mem_info, OrtAllocator **out);
    RELEASE(Allocator);

    /* Bindings: inputs and outputs fixed before a run */
    STATUS(RunWithBinding, OrtSession *session, const OrtRunOptions *run_options, const OrtIoBinding *binding);
    STATUS(CreateIoBinding, OrtSession *session, OrtIoBinding **out);
    RELEASE(IoBinding);
    STATUS(BindInput, OrtIoBinding *binding, const char *name, const OrtValue *value);
    STATUS(BindOutput, OrtIoBinding *binding, const char *name, const OrtValue *value);
    STATUS(BindOutputToDevice, OrtIoBinding *binding, const char *name, const OrtMemoryInfo *info);
    RESERVED(139, 1);
    STATUS(GetBoundOutputValues, const OrtIoBinding *binding, OrtAllocator *allocator, OrtValue ***output,
           size_t *output_count);
    void (*ClearBoundInputs)(OrtIoBinding *binding);
    void (*ClearBoundOutputs)(OrtIoBinding *binding);
    RESERVED(143, 4);

    /* Shared threads, set up before the environment */
    STATUS(SetGlobalIntraOpNumThreads, OrtThreadingOptions *options, int count);
    STATUS(SetGlobalInterOpNumThreads, OrtThreadingOptions *options, int count);
    STATUS(SetGlobalSpinControl, OrtThreadingOptions *options, int spin);
    RESERVED(150, 15);
    STATUS(AddRunConfigEntry, OrtRunOptions *options, const char *key, const char *value);
    RESERVED(166, 30);
    STATUS(SessionOptionsSetCustomCreateThreadFn, OrtSessionOptions *options, OrtCustomCreateThreadFn create);
    RESERVED(197, 1);
    STATUS(SessionOptionsSetCustomJoinThreadFn, OrtSessionOptions *options, OrtCustomJoinThreadFn join);
    RESERVED(199, 5);

    /* CUDA and other providers */
    STATUS(SessionOptionsAppendExecutionProvider_CUDA_V2, OrtSessionOptions *options,
           const OrtCUDAProviderOptionsV2 *cuda);
    STATUS(CreateCUDAProviderOptions, OrtCUDAProviderOptionsV2 **out);
    STATUS(UpdateCUDAProviderOptions, OrtCUDAProviderOptionsV2 *cuda, const char *const *keys,
           const char *const *values, size_t count);
    RESERVED(207, 1);
    void (*ReleaseCUDAProviderOptions)(OrtCUDAProviderOptionsV2 *cuda);
    RESERVED(209, 7);
    STATUS(SessionOptionsAppendExecutionProvider, OrtSessionOptions *options, const char *name,
           const char *const *keys, const char *const *values, size_t count);
    RESERVED(217, 11);

    /* Libraries of operators, which live as long as the sessions that use them */
    STATUS(RegisterCustomOpsLibrary_V2, OrtSessionOptions *options, const char *library_name);
    RESERVED(229, 23);
    STATUS(GetResizedStringTensorElementBuffer, OrtValue *value, size_t index, size_t byte_size, char **buffer);
    RESERVED(253, 1);
    const char *(*GetBuildInfoString)(void);
};
typedef struct OrtApi OrtApi;

typedef struct OrtApiBase {
    const OrtApi *(*GetApi)(uint32_t version); /* NULL when the library is older than that version */
    const char *(*GetVersionString)(void);
} OrtApiBase;

const OrtApiBase *OrtGetApiBase(void);

#endif
