/* Modules and their functions, and the checks of a launch. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { PTX_VERSION_75 = 75, BINARY_VERSION_90 = 90, REGISTERS = 32 };

static struct module *modules;

static struct module *find_module(CUmodule handle) {
    for (struct module *each = modules; each != NULL; each = each->next) {
        if (each->handle == (uint64_t)(uintptr_t)handle) {
            return each;
        }
    }
    return NULL;
}

struct function *find_function(CUfunction handle, struct module **module) {
    for (*module = modules; *module != NULL; *module = (*module)->next) {
        for (struct function *each = (*module)->functions; each != NULL; each = each->next) {
            if (each->handle == (uint64_t)(uintptr_t)handle) {
                return each;
            }
        }
    }
    return NULL;
}

static void unload(struct module *module) {
    struct module **link = &modules;
    while (*link != module) {
        link = &(*link)->next;
    }
    *link = module->next;
    count(MODULES, -1);
    for (struct function *each = module->functions; each != NULL;) {
        struct function *next = each->next;
        free(each->name);
        free(each);
        each = next;
    }
    for (char **name = module->names; name != NULL && *name != NULL; name++) {
        free(*name);
    }
    free(module->names);
    free(module);
}

void free_modules_of(struct context *context) {
    for (struct module *each = modules; each != NULL;) {
        struct module *next = each->next;
        if (each->context == context) {
            unload(each);
        }
        each = next;
    }
}

static CUresult load(struct context *context, CUmodule *handle, const void *image, const char **fault) {
    if (handle == NULL || image == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    char **names = NULL;
    CUresult result = read_image(image, &names, fault);
    if (result == CUDA_SUCCESS) {
        struct module *module = must(calloc(1, sizeof *module));
        *module = (struct module){.next = modules, .handle = new_handle(), .context = context, .names = names};
        modules = module;
        count(MODULES, 1);
        *handle = (CUmodule)(uintptr_t)module->handle;
    }
    return result;
}

CUresult CUDAAPI cuModuleLoadData(CUmodule *handle, const void *image) {
    struct context *context;
    const char *fault;
    CUresult result = enter(__func__, &context);
    return result != CUDA_SUCCESS ? result : leave(context, load(context, handle, image, &fault));
}

/* Where the compiler's texts go. */
struct log {
    char *buffer;
    size_t size;
    void **answer; /* takes how much of the buffer is used */
};

/* The logs among the options: of errors first, then of all else. False for an option that is not known here. */
static bool find_logs(unsigned int count, CUjit_option *options, void **values, struct log *logs) {
    for (unsigned int i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER:
        case CU_JIT_INFO_LOG_BUFFER:
            logs[options[i] == CU_JIT_INFO_LOG_BUFFER].buffer = values[i];
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: {
            struct log *log = &logs[options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES];
            log->size = (size_t)(uintptr_t)values[i] & UINT32_MAX;
            log->answer = &values[i];
            break;
        }
        case CU_JIT_LOG_VERBOSE:
            break;
        default:
            return false;
        }
    }
    return true;
}

/* Cut off where there is no room, with the zero at the end always. */
static void write_log(struct log *log, const char *text) {
    if (log->buffer == NULL || log->size == 0) {
        return;
    }
    int length = snprintf(log->buffer, log->size, "%s", text);
    size_t used = (size_t)length < log->size ? (size_t)length : log->size - 1;
    *log->answer = (void *)(uintptr_t)used;
}

CUresult CUDAAPI cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int count, CUjit_option *options,
                                    void **values) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct log logs[2] = {{0}, {0}};
    const char *fault = "";
    if ((count > 0 && (options == NULL || values == NULL)) || !find_logs(count, options, values, logs)) {
        return leave(context, CUDA_ERROR_INVALID_VALUE);
    }
    result = load(context, handle, image, &fault);
    write_log(&logs[0], result == CUDA_SUCCESS ? "" : fault);
    write_log(&logs[1], "");
    return leave(context, result);
}

/* Waits for the kernels that run. */
CUresult CUDAAPI cuModuleUnload(CUmodule handle) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct module *module = find_module(handle);
    if (module == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        await_context(module->context);
        module = find_module(handle); /* somebody else may have unloaded it meanwhile */
        if (module == NULL) {
            result = CUDA_ERROR_INVALID_HANDLE;
        } else {
            unload(module);
        }
    }
    return leave(context, result);
}

/* In an image that cannot be read there are the kernels that the stand-in knows. */
static bool has_kernel(struct module *module, const char *name) {
    if (module->names == NULL) {
        return find_kernel(name) != NULL;
    }
    for (char **each = module->names; *each != NULL; each++) {
        if (strcmp(*each, name) == 0) {
            return true;
        }
    }
    return false;
}

CUresult CUDAAPI cuModuleGetFunction(CUfunction *handle, CUmodule module_handle, const char *name) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct module *module = find_module(module_handle);
    if (module == NULL) {
        return leave(context, CUDA_ERROR_INVALID_HANDLE);
    }
    if (handle == NULL || name == NULL || *name == 0) {
        return leave(context, CUDA_ERROR_INVALID_VALUE);
    }
    if (!has_kernel(module, name)) {
        return leave(context, CUDA_ERROR_NOT_FOUND);
    }
    struct function *function = module->functions;
    while (function != NULL && strcmp(function->name, name) != 0) {
        function = function->next;
    }
    if (function == NULL) {
        function = must(calloc(1, sizeof *function));
        *function = (struct function){.next = module->functions,
                                      .handle = new_handle(),
                                      .kernel = find_kernel(name),
                                      .shared_bytes = SHARED_BYTES,
                                      .name = must(strdup(name))};
        module->functions = function;
    }
    *handle = (CUfunction)(uintptr_t)function->handle;
    return leave(context, result);
}

CUresult CUDAAPI cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct module *module;
    struct function *function = find_function(handle, &module);
    if (function == NULL) {
        return leave(context, CUDA_ERROR_INVALID_HANDLE);
    }
    if (value == NULL) {
        return leave(context, CUDA_ERROR_INVALID_VALUE);
    }
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *value = MAX_THREADS;
        break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = (int)function->shared_bytes;
        break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        *value = REGISTERS;
        break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        *value = PTX_VERSION_75;
        break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        *value = BINARY_VERSION_90;
        break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA:
        *value = 0;
        break;
    default:
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return leave(context, result);
}

CUresult CUDAAPI cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct module *module;
    struct function *function = find_function(handle, &module);
    if (function == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES && value >= 0 &&
               value <= SHARED_BYTES_ON_REQUEST) {
        function->shared_bytes = (unsigned int)value;
    } else if (attribute != CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT || value < -1 || value > 100) {
        result = CUDA_ERROR_INVALID_VALUE;
    }
    return leave(context, result);
}

static size_t width_of(char parameter) {
    return parameter == 'i' ? sizeof(int32_t) : sizeof(int64_t);
}

/* Arguments in one buffer, each at a multiple of its size: how a launch passes them in `extra`. */
static CUresult read_buffer(const char *parameters, void **extra, union argument *arguments) {
    const unsigned char *buffer = NULL;
    const size_t *size = NULL;
    for (void **entry = extra; *entry != CU_LAUNCH_PARAM_END; entry += 2) {
        if (*entry == CU_LAUNCH_PARAM_BUFFER_POINTER) {
            buffer = entry[1];
        } else if (*entry == CU_LAUNCH_PARAM_BUFFER_SIZE) {
            size = entry[1];
        } else {
            return CUDA_ERROR_INVALID_VALUE;
        }
    }
    if (buffer == NULL || size == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    size_t offset = 0;
    for (int i = 0; parameters[i] != 0; i++) {
        size_t width = width_of(parameters[i]);
        offset = (offset + width - 1) & ~(width - 1);
        if (offset + width > *size) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(&arguments[i], buffer + offset, width);
        offset += width;
    }
    return CUDA_SUCCESS;
}

static CUresult read_arguments(const char *parameters, void **list, void **extra, union argument *arguments) {
    if (list != NULL && extra != NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (extra != NULL) {
        return read_buffer(parameters, extra, arguments);
    }
    for (int i = 0; parameters[i] != 0; i++) {
        if (list == NULL || list[i] == NULL) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(&arguments[i], list[i], width_of(parameters[i]));
    }
    return CUDA_SUCCESS;
}

static bool fits_device(const unsigned int *grid, const unsigned int *block) {
    for (int i = 0; i < 3; i++) {
        if (grid[i] == 0 || block[i] == 0 || grid[i] > (i == 0 ? INT32_MAX : MAX_GRID_YZ) ||
            block[i] > (i == 2 ? MAX_BLOCK_Z : MAX_THREADS)) {
            return false;
        }
    }
    return block[0] * block[1] * block[2] <= MAX_THREADS;
}

struct launch_work {
    const struct kernel *kernel;
    struct launch launch;
};

static CUresult run_launch(void *payload) {
    struct launch_work *work = payload;
    struct launch *launch = &work->launch;
    CUresult result = work->kernel->run(launch);
    pthread_mutex_lock(&standin_lock);
    for (int i = 0; i < launch->pinned_count; i++) {
        release_allocation(launch->pinned[i]);
    }
    pthread_mutex_unlock(&standin_lock);
    return launch->fault != CUDA_SUCCESS ? launch->fault : result;
}

CUresult CUDAAPI cuLaunchKernel(CUfunction handle, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                unsigned int shared_bytes, CUstream stream_handle, void **parameters, void **extra) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct module *module;
    struct function *function = find_function(handle, &module);
    struct stream *stream = find_stream(stream_handle, context);
    if (function == NULL || stream == NULL || module->context != context || stream->context != context) {
        return leave(context, CUDA_ERROR_INVALID_HANDLE);
    }
    struct launch launch = {
        .context = context, .grid = {grid_x, grid_y, grid_z}, .block = {block_x, block_y, block_z}};
    if (!fits_device(launch.grid, launch.block) || shared_bytes > function->shared_bytes) {
        return leave(context, CUDA_ERROR_INVALID_VALUE);
    }
    if (function->kernel == NULL) {
        return leave(context, CUDA_ERROR_NOT_SUPPORTED);
    }
    result = read_arguments(function->kernel->parameters, parameters, extra, launch.arguments);
    if (result == CUDA_SUCCESS) {
        struct launch_work *payload = must(malloc(sizeof *payload));
        *payload = (struct launch_work){function->kernel, launch};
        count(LAUNCHES, 1);
        submit(stream, new_work(run_launch, payload));
    }
    return leave(context, result);
}
