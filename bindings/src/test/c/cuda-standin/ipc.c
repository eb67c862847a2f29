/*
 * Handles for other processes. A handle says which process has which memory object open under which number; another
 * process of the same user opens it through /proc. Objects have no names, so nothing stays behind, whoever is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "standin.h"

enum { MAGIC = 0x47545350, MEMORY = 1, EVENT = 2 };

/* What is in the 64 bytes. */
struct handle {
    uint32_t magic;
    uint32_t what;
    int32_t process;
    int32_t descriptor;
    uint64_t identity;
    uint64_t size;
    int32_t device;
};

_Static_assert(sizeof(struct handle) <= CU_IPC_HANDLE_SIZE, "it must fit");

static void write_handle(char *bytes, struct handle handle) {
    memset(bytes, 0, CU_IPC_HANDLE_SIZE);
    memcpy(bytes, &handle, sizeof handle);
}

/* Its object, opened; or why that cannot be. The owner may be dead, or have given the object back. */
static CUresult open_handle(const char *bytes, uint32_t what, struct handle *handle, int *descriptor) {
    memcpy(handle, bytes, sizeof *handle);
    if (handle->magic != MAGIC || handle->what != what || handle->process <= 0 || handle->size == 0 ||
        handle->device < 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (handle->process == getpid()) {
        return CUDA_ERROR_INVALID_CONTEXT;
    }
    if (handle->device >= device_count()) {
        return CUDA_ERROR_INVALID_DEVICE;
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", handle->process, handle->descriptor);
    *descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (*descriptor < 0) {
        return CUDA_ERROR_MAP_FAILED;
    }
    struct stat status;
    if (object_identity(*descriptor) != handle->identity || fstat(*descriptor, &status) != 0 ||
        (uint64_t)status.st_size != handle->size) {
        close(*descriptor);
        return CUDA_ERROR_MAP_FAILED;
    }
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcGetMemHandle(CUipcMemHandle *handle, CUdeviceptr address) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    /* An address inside an allocation stands for the whole of it; pools and imported memory cannot be passed on. */
    struct allocation *allocation = find_allocation(address, 0);
    if (handle == NULL || allocation == NULL || allocation->kind != DEVICE_MEMORY) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        write_handle(handle->reserved, (struct handle){.magic = MAGIC,
                                                       .what = MEMORY,
                                                       .process = getpid(),
                                                       .descriptor = allocation->descriptor,
                                                       .identity = allocation->identity,
                                                       .size = allocation->size,
                                                       .device = allocation->context->device});
    }
    return leave(context, result);
}

static CUresult import(struct context *context, CUdeviceptr *address, const CUipcMemHandle *bytes) {
    struct handle handle;
    int descriptor;
    CUresult result = open_handle(bytes->reserved, MEMORY, &handle, &descriptor);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (handle.device != context->device && !peers_possible()) {
        close(descriptor);
        return CUDA_ERROR_PEER_ACCESS_UNSUPPORTED;
    }
    struct allocation *allocation = imported(context, handle.identity);
    if (allocation != NULL) {
        close(descriptor);
    } else {
        allocation = map_object(context, IMPORTED_MEMORY, descriptor, handle.size);
        if (allocation == NULL) {
            close(descriptor);
            return CUDA_ERROR_MAP_FAILED;
        }
        count(MAPPINGS, 1);
    }
    allocation->opened++;
    *address = allocation->address;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    bool valid = address != NULL && flags == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;
    return leave(context, valid ? import(context, address, &handle) : CUDA_ERROR_INVALID_VALUE);
}

CUresult CUDAAPI cuIpcCloseMemHandle(CUdeviceptr address) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct allocation *allocation = find_allocation(address, 0);
    if (allocation == NULL || allocation->kind != IMPORTED_MEMORY || allocation->address != address) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (--allocation->opened == 0) {
        unlist_allocation(allocation);
        await_context(allocation->context);
        release_allocation(allocation);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuIpcGetEventHandle(CUipcEventHandle *handle, CUevent event_handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(event_handle);
    if (event == NULL || event->shared == NULL || event->imported) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (handle == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        write_handle(handle->reserved, (struct handle){.magic = MAGIC,
                                                       .what = EVENT,
                                                       .process = getpid(),
                                                       .descriptor = event->descriptor,
                                                       .identity = object_identity(event->descriptor),
                                                       .size = sizeof *event->shared,
                                                       .device = event->context->device});
    }
    return leave(context, result);
}

static CUresult import_event(struct context *context, CUevent *event_handle, const CUipcEventHandle *bytes) {
    struct handle handle;
    int descriptor;
    CUresult result = open_handle(bytes->reserved, EVENT, &handle, &descriptor);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    void *shared = mmap(NULL, handle.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    if (shared == MAP_FAILED) {
        close(descriptor);
        return CUDA_ERROR_MAP_FAILED;
    }
    struct event *event = new_event(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
    event->shared = shared;
    event->descriptor = descriptor;
    event->imported = true;
    *event_handle = (CUevent)(uintptr_t)event->handle;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuIpcOpenEventHandle(CUevent *event, CUipcEventHandle handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    return leave(context, event == NULL ? CUDA_ERROR_INVALID_VALUE : import_event(context, event, &handle));
}
