/*
 * Stands in for an ONNX Runtime that has its CUDA provider: the real library for processors, whose file REAL_LIBRARY
 * names, with those functions replaced that know of GPUs. A value around device memory is one around a shadow in host
 * memory; a run copies what is bound from the device before and to it afterwards, on the stream that the session was
 * given, by whatever libcuda.so.1 there is. Used by one test, one call at a time.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "onnxruntime.h"

enum { MANY = 512, BOUND = 16 };

struct OrtCUDAProviderOptionsV2 {
    int device;
    CUstream stream;
};

/* What an object of the real library stands for here. */
struct entry {
    const void *object;
    struct OrtCUDAProviderOptionsV2 cuda; /* of options and of sessions */
    const OrtSession *session;            /* of a binding */
    CUdeviceptr address;                  /* of a value */
    size_t size;
    void *shadow;
    struct entry *inputs[BOUND];
    struct entry *outputs[BOUND];
    int input_count;
    int output_count;
};

static struct entry entries[MANY];
static const OrtApi *real;
static OrtApi api;
static CUresult (*copy_to_host)(void *to, CUdeviceptr from, size_t size, CUstream stream);
static CUresult (*copy_to_device)(CUdeviceptr to, const void *from, size_t size, CUstream stream);
static CUresult (*synchronize)(CUstream stream);

static struct entry *find(const void *object) {
    for (int i = 0; i < MANY; i++) {
        if (object != NULL && entries[i].object == object) {
            return &entries[i];
        }
    }
    return NULL;
}

static struct entry *remember(const void *object) {
    for (int i = 0; i < MANY; i++) {
        if (entries[i].object == NULL) {
            entries[i] = (struct entry){.object = object};
            return &entries[i];
        }
    }
    fprintf(stderr, "onnxruntime_cuda.c: more than %d objects\n", MANY);
    abort();
}

static void forget(const void *object) {
    struct entry *entry = find(object);
    if (entry != NULL) {
        free(entry->shadow);
        entry->object = NULL;
    }
}

static OrtStatus *failure(const char *text, CUresult result) {
    OrtStatus *(*create)(OrtErrorCode, const char *) = (OrtStatus * (*)(OrtErrorCode, const char *)) real->reserved_0[0];
    char message[128];
    snprintf(message, sizeof message, "CUDA failure %d: %s", (int)result, text);
    return create(ORT_EP_FAIL, message);
}

static OrtStatus *providers(char ***out, int *count) {
    static char *names[] = {"CUDAExecutionProvider", "CPUExecutionProvider"};
    *out = names;
    *count = 2;
    return NULL;
}

static OrtStatus *release_providers(char **names, int count) {
    (void)names;
    (void)count;
    return NULL;
}

static OrtStatus *create_cuda(OrtCUDAProviderOptionsV2 **out) {
    *out = calloc(1, sizeof **out);
    return NULL;
}

static OrtStatus *update_cuda(OrtCUDAProviderOptionsV2 *cuda, const char *const *keys, const char *const *values,
                              size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(keys[i], "device_id") == 0) {
            cuda->device = atoi(values[i]);
        } else if (strcmp(keys[i], "user_compute_stream") == 0) {
            cuda->stream = (CUstream)(uintptr_t)strtoull(values[i], NULL, 10);
        } else {
            return failure(keys[i], CUDA_ERROR_INVALID_VALUE);
        }
    }
    return NULL;
}

static void release_cuda(OrtCUDAProviderOptionsV2 *cuda) {
    free(cuda);
}

static OrtStatus *append_cuda(OrtSessionOptions *options, const OrtCUDAProviderOptionsV2 *cuda) {
    remember(options)->cuda = *cuda;
    return NULL;
}

static OrtStatus *create_session(const OrtEnv *env, const char *path, const OrtSessionOptions *options,
                                 OrtSession **out) {
    OrtStatus *status = real->CreateSession(env, path, options, out);
    struct entry *with = find(options);
    if (status == NULL && with != NULL) {
        remember(*out)->cuda = with->cuda;
    }
    return status;
}

static OrtStatus *create_memory_info(const char *name, OrtAllocatorType type, int id, OrtMemType mem_type,
                                     OrtMemoryInfo **out) {
    if (strcmp(name, "Cuda") != 0) {
        return real->CreateMemoryInfo(name, type, id, mem_type, out);
    }
    OrtStatus *status = real->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, out);
    if (status == NULL) {
        remember(*out)->cuda.device = id;
    }
    return status;
}

static OrtStatus *create_tensor(const OrtMemoryInfo *info, void *data, size_t size, const int64_t *shape, size_t rank,
                                ONNXTensorElementDataType type, OrtValue **out) {
    if (find(info) == NULL) {
        return real->CreateTensorWithDataAsOrtValue(info, data, size, shape, rank, type, out);
    }
    void *shadow = calloc(1, size + 64);
    OrtStatus *status = real->CreateTensorWithDataAsOrtValue(info, shadow, size, shape, rank, type, out);
    if (status != NULL) {
        free(shadow);
        return status;
    }
    struct entry *entry = remember(*out);
    entry->address = (CUdeviceptr)(uintptr_t)data;
    entry->size = size;
    entry->shadow = shadow;
    return NULL;
}

static OrtStatus *create_binding(OrtSession *session, OrtIoBinding **out) {
    OrtStatus *status = real->CreateIoBinding(session, out);
    if (status == NULL) {
        remember(*out)->session = session;
    }
    return status;
}

static OrtStatus *bind_input(OrtIoBinding *binding, const char *name, const OrtValue *value) {
    struct entry *entry = find(binding);
    if (find(value) != NULL) {
        entry->inputs[entry->input_count++] = find(value);
    }
    return real->BindInput(binding, name, value);
}

static OrtStatus *bind_output(OrtIoBinding *binding, const char *name, const OrtValue *value) {
    struct entry *entry = find(binding);
    if (find(value) != NULL) {
        entry->outputs[entry->output_count++] = find(value);
    }
    return real->BindOutput(binding, name, value);
}

static void clear_inputs(OrtIoBinding *binding) {
    find(binding)->input_count = 0;
    real->ClearBoundInputs(binding);
}

static void clear_outputs(OrtIoBinding *binding) {
    find(binding)->output_count = 0;
    real->ClearBoundOutputs(binding);
}

/* Like the real one it leaves the outputs to the stream: who reads them has to wait for that. */
static OrtStatus *run_with_binding(OrtSession *session, const OrtRunOptions *options, const OrtIoBinding *binding) {
    struct entry *bound = find(binding);
    CUstream stream = find(session)->cuda.stream;
    CUresult result = CUDA_SUCCESS;
    for (int i = 0; i < bound->input_count && result == CUDA_SUCCESS; i++) {
        result = copy_to_host(bound->inputs[i]->shadow, bound->inputs[i]->address, bound->inputs[i]->size, stream);
    }
    if (result == CUDA_SUCCESS) {
        result = synchronize(stream);
    }
    if (result != CUDA_SUCCESS) {
        return failure("the inputs cannot be read", result);
    }
    OrtStatus *status = real->RunWithBinding(session, options, binding);
    for (int i = 0; status == NULL && i < bound->output_count; i++) {
        result = copy_to_device(bound->outputs[i]->address, bound->outputs[i]->shadow, bound->outputs[i]->size, stream);
        if (result != CUDA_SUCCESS) {
            status = failure("an output cannot be written", result);
        }
    }
    return status;
}

#define FORGETTING(type)                                                                                               \
    static void release_##type(Ort##type *object) {                                                                    \
        forget(object);                                                                                                \
        real->Release##type(object);                                                                                   \
    }
FORGETTING(Session)
FORGETTING(SessionOptions)
FORGETTING(MemoryInfo)
FORGETTING(Value)
FORGETTING(IoBinding)

static const OrtApi *get_api(uint32_t version) {
    (void)version;
    return &api;
}

static const char *version(void) {
    return "1.99.0";
}

static void *symbol(void *library, const char *name) {
    void *found = library == NULL ? NULL : dlsym(library, name);
    if (found == NULL) {
        fprintf(stderr, "onnxruntime_cuda.c: %s is missing: %s\n", name, dlerror());
        abort();
    }
    return found;
}

__attribute__((visibility("default"))) const OrtApiBase *OrtGetApiBase(void) {
    static const OrtApiBase base = {get_api, version};
    if (real != NULL) {
        return &base;
    }
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    copy_to_host = symbol(cuda, "cuMemcpyDtoHAsync_v2");
    copy_to_device = symbol(cuda, "cuMemcpyHtoDAsync_v2");
    synchronize = symbol(cuda, "cuStreamSynchronize");
    const OrtApiBase *(*real_base)(void) = symbol(dlopen(REAL_LIBRARY, RTLD_NOW), "OrtGetApiBase");
    real = real_base()->GetApi(GATUN_ORT_API_VERSION);
    api = *real;
    api.GetAvailableProviders = providers;
    api.ReleaseAvailableProviders = release_providers;
    api.CreateCUDAProviderOptions = create_cuda;
    api.UpdateCUDAProviderOptions = update_cuda;
    api.ReleaseCUDAProviderOptions = release_cuda;
    api.SessionOptionsAppendExecutionProvider_CUDA_V2 = append_cuda;
    api.CreateSession = create_session;
    api.CreateMemoryInfo = create_memory_info;
    api.CreateTensorWithDataAsOrtValue = create_tensor;
    api.CreateIoBinding = create_binding;
    api.BindInput = bind_input;
    api.BindOutput = bind_output;
    api.ClearBoundInputs = clear_inputs;
    api.ClearBoundOutputs = clear_outputs;
    api.RunWithBinding = run_with_binding;
    api.ReleaseSession = release_Session;
    api.ReleaseSessionOptions = release_SessionOptions;
    api.ReleaseMemoryInfo = release_MemoryInfo;
    api.ReleaseValue = release_Value;
    api.ReleaseIoBinding = release_IoBinding;
    return &base;
}
