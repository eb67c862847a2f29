/*
 * What the baselines of `jmh/run models` have in common: sessions of ONNX Runtime, opened as a command line says, and the
 * shapes of their inputs. Each program includes this once.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onnxruntime.h"

enum { MAX_TENSORS = 16, MAX_RANK = 8 };

static const OrtApi *api;
static OrtAllocator *allocator;
static OrtMemoryInfo *memory;

static void check(OrtStatus *status) {
    if (status != NULL) {
        fprintf(stderr, "%s\n", api->GetErrorMessage(status));
        exit(1);
    }
}

/* The options of a command line: THREADS [KEY=VALUE...], or nothing. */
struct options {
    int count;
    char **texts;
};

/* The value of one of a program's own options. */
static const char *own_option(struct options options, const char *name, const char *absent) {
    size_t length = strlen(name);
    for (int i = 1; i < options.count; i++) {
        if (strncmp(options.texts[i], name, length) == 0 && options.texts[i][length] == '=') {
            return options.texts[i] + length + 1;
        }
    }
    return absent;
}

static OrtSession **open_sessions(const char *library_file, const char *model, int session_count, struct options given) {
    void *library = dlopen(library_file, RTLD_NOW);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
    const OrtApiBase *(*base)(void) = (const OrtApiBase *(*)(void))dlsym(library, "OrtGetApiBase");
    api = base()->GetApi(GATUN_ORT_API_VERSION);
    OrtEnv *environment;
    OrtSessionOptions *options;
    bool shared = given.count > 0 && given.texts[0][0] == 'g';
    if (shared) {
        OrtThreadingOptions *threading;
        check(api->CreateThreadingOptions(&threading));
        check(api->SetGlobalIntraOpNumThreads(threading, atoi(given.texts[0] + 1)));
        check(api->SetGlobalInterOpNumThreads(threading, 1));
        check(api->SetGlobalSpinControl(threading, atoi(own_option(given, "loop.spinning", "1"))));
        check(api->CreateEnvWithGlobalThreadPools(ORT_LOGGING_LEVEL_ERROR, "baseline", threading, &environment));
    } else {
        check(api->CreateEnv(ORT_LOGGING_LEVEL_ERROR, "baseline", &environment));
    }
    check(api->GetAllocatorWithDefaultOptions(&allocator));
    check(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
    check(api->CreateSessionOptions(&options));
    if (shared) {
        check(api->DisablePerSessionThreads(options));
    } else if (given.count > 0) {
        check(api->SetIntraOpNumThreads(options, atoi(given.texts[0])));
    }
    for (int i = 1; i < given.count; i++) {
        if (strncmp(given.texts[i], "loop.", 5) == 0) {
            continue;
        }
        char *value = strchr(given.texts[i], '=');
        *value = 0;
        check(api->AddSessionConfigEntry(options, given.texts[i], value + 1));
    }
    OrtSession **sessions = (OrtSession **)calloc((size_t)session_count, sizeof *sessions);
    for (int i = 0; i < session_count; i++) {
        check(api->CreateSession(environment, model, options, &sessions[i]));
    }
    return sessions;
}

/* An input of a session, whose first dimension is BATCH where it varies, and any other that varies LENGTH. */
struct input {
    ONNXTensorElementDataType element;
    int64_t shape[MAX_RANK];
    size_t rank, count, byte_size;
};

static struct input describe_input(OrtSession *session, size_t index, long batch, long length) {
    struct input input = {.count = 1};
    OrtTypeInfo *type;
    const OrtTensorTypeAndShapeInfo *info;
    check(api->SessionGetInputTypeInfo(session, index, &type));
    check(api->CastTypeInfoToTensorInfo(type, &info));
    check(api->GetTensorElementType(info, &input.element));
    check(api->GetDimensionsCount(info, &input.rank));
    check(api->GetDimensions(info, input.shape, input.rank));
    api->ReleaseTypeInfo(type);
    for (size_t i = 0; i < input.rank; i++) {
        if (input.shape[i] < 0) {
            input.shape[i] = i == 0 ? batch : length;
        }
        input.count *= (size_t)input.shape[i];
    }
    bool whole = input.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
    input.byte_size = input.count * (whole ? sizeof(int64_t) : sizeof(float));
    return input;
}

/* A run's output of 32-bit numbers, as long as its value is not released. */
struct output {
    int64_t shape[MAX_RANK];
    size_t rank, byte_size;
    void *data;
};

static inline struct output describe_output(OrtValue *value) {
    struct output output = {.byte_size = sizeof(float)};
    OrtTensorTypeAndShapeInfo *info;
    check(api->GetTensorTypeAndShape(value, &info));
    check(api->GetDimensionsCount(info, &output.rank));
    check(api->GetDimensions(info, output.shape, output.rank));
    api->ReleaseTensorTypeAndShapeInfo(info);
    check(api->GetTensorMutableData(value, &output.data));
    for (size_t i = 0; i < output.rank; i++) {
        output.byte_size *= (size_t)output.shape[i];
    }
    return output;
}
