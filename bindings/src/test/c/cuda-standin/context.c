/* Primary contexts, which are the only ones, and which of them is current for a thread. */
#include "standin.h"

enum { MAX_STACK = 32 };

/* Handles, not pointers: a context may end while it is current somewhere. */
static _Thread_local struct {
    uint64_t handles[MAX_STACK];
    int depth;
} stack;

static struct context *find_context(uint64_t handle) {
    for (int device = 0; handle != 0 && device < device_count(); device++) {
        if (context_of(device)->handle == handle) {
            return context_of(device);
        }
    }
    return NULL;
}

CUresult enter_library(const char *function, int device) {
    start_library();
    pthread_mutex_lock(&standin_lock);
    CUresult result = CUDA_SUCCESS;
    if (device_count() < 0) {
        result = CUDA_ERROR_NOT_INITIALIZED;
    } else if (device != NO_DEVICE && (device < 0 || device >= device_count())) {
        result = CUDA_ERROR_INVALID_DEVICE;
    } else {
        result = injected(function, device == NO_DEVICE ? NULL : context_of(device));
    }
    if (result != CUDA_SUCCESS) {
        pthread_mutex_unlock(&standin_lock);
    }
    return result;
}

void leave_library(void) {
    pthread_mutex_unlock(&standin_lock);
}

CUresult enter_to_release(const char *function, struct context **current) {
    start_library();
    pthread_mutex_lock(&standin_lock);
    CUresult result = CUDA_SUCCESS;
    struct context *context = NULL;
    if (device_count() < 0) {
        result = CUDA_ERROR_NOT_INITIALIZED;
    } else if (stack.depth == 0) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else {
        context = find_context(stack.handles[stack.depth - 1]);
        result = context == NULL ? CUDA_ERROR_CONTEXT_IS_DESTROYED : injected(function, context);
    }
    if (result != CUDA_SUCCESS) {
        pthread_mutex_unlock(&standin_lock);
    }
    *current = context;
    return result;
}

CUresult enter(const char *function, struct context **current) {
    CUresult result = enter_to_release(function, current);
    if (result == CUDA_SUCCESS && (*current)->failure != CUDA_SUCCESS) {
        result = (*current)->failure;
        pthread_mutex_unlock(&standin_lock);
    }
    return result;
}

CUresult leave(struct context *context, CUresult result) {
    CUresult failure = context->failure;
    pthread_mutex_unlock(&standin_lock);
    return failure != CUDA_SUCCESS ? failure : result;
}

CUresult CUDAAPI cuDevicePrimaryCtxRetain(CUcontext *handle, CUdevice device) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if (handle == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            struct context *context = context_of(device);
            if (context->retained++ == 0) {
                context->handle = new_handle();
            }
            count(CONTEXTS, 1);
            *handle = (CUcontext)(uintptr_t)context->handle;
        }
        leave_library();
    }
    return result;
}

/* The last release ends the context and everything in it. */
static void end_context(struct context *context) {
    await_context(context);
    free_modules_of(context);
    free_events_of(context);
    free_streams_of(context);
    free_memory_of(context);
    context->handle = 0;
    context->failure = CUDA_SUCCESS;
    for (int device = 0; device < MAX_DEVICES; device++) {
        context->peers[device] = false;
    }
}

CUresult CUDAAPI cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        struct context *context = context_of(device);
        if (context->retained == 0) {
            result = CUDA_ERROR_INVALID_CONTEXT;
        } else {
            count(CONTEXTS, -1);
            if (--context->retained == 0) {
                end_context(context);
            }
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned int flags) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if ((flags & ~(unsigned int)CU_CTX_FLAGS_MASK) != 0) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            context_of(device)->flags = flags;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuDevicePrimaryCtxGetState(CUdevice device, unsigned int *flags, int *active) {
    CUresult result = enter_library(__func__, device);
    if (result == CUDA_SUCCESS) {
        if (flags == NULL || active == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            *flags = context_of(device)->flags;
            *active = context_of(device)->retained > 0;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuCtxGetCurrent(CUcontext *handle) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (handle == NULL) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            *handle = stack.depth == 0 ? NULL : (CUcontext)(uintptr_t)stack.handles[stack.depth - 1];
        }
        leave_library();
    }
    return result;
}

/* NULL takes the top of the stack away. */
CUresult CUDAAPI cuCtxSetCurrent(CUcontext handle) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (handle == NULL) {
            stack.depth -= stack.depth > 0;
        } else if (find_context((uint64_t)(uintptr_t)handle) == NULL) {
            result = CUDA_ERROR_INVALID_CONTEXT;
        } else {
            stack.depth += stack.depth == 0;
            stack.handles[stack.depth - 1] = (uint64_t)(uintptr_t)handle;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuCtxPushCurrent_v2(CUcontext handle) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (find_context((uint64_t)(uintptr_t)handle) == NULL) {
            result = CUDA_ERROR_INVALID_CONTEXT;
        } else if (stack.depth == MAX_STACK) {
            result = CUDA_ERROR_INVALID_VALUE;
        } else {
            stack.handles[stack.depth++] = (uint64_t)(uintptr_t)handle;
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuCtxPopCurrent_v2(CUcontext *handle) {
    CUresult result = enter_library(__func__, NO_DEVICE);
    if (result == CUDA_SUCCESS) {
        if (stack.depth == 0) {
            result = CUDA_ERROR_INVALID_CONTEXT;
        } else {
            uint64_t top = stack.handles[--stack.depth];
            if (handle != NULL) {
                *handle = (CUcontext)(uintptr_t)top;
            }
        }
        leave_library();
    }
    return result;
}

CUresult CUDAAPI cuCtxGetDevice(CUdevice *device) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (device == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        *device = context->device;
    }
    leave_library();
    return result;
}

CUresult CUDAAPI cuCtxSynchronize(void) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result == CUDA_SUCCESS) {
        await_context(context);
        result = leave(context, result);
    }
    return result;
}

CUresult CUDAAPI cuCtxEnablePeerAccess(CUcontext peer, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct context *other = find_context((uint64_t)(uintptr_t)peer);
    if (flags != 0) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (other == NULL || other == context) {
        result = CUDA_ERROR_INVALID_CONTEXT;
    } else if (!peers_possible()) {
        result = CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    } else if (context->peers[other->device]) {
        result = CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    } else {
        context->peers[other->device] = true;
    }
    return leave(context, result);
}
