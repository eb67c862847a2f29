/* Pinned host memory: allocated here, or the caller's own that is registered. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

static const unsigned int ALLOCATE_FLAGS =
    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP | CU_MEMHOSTALLOC_WRITECOMBINED;
static const unsigned int REGISTER_FLAGS =
    CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_READ_ONLY;

static void pin(struct context *context, enum kind kind, void *pointer, size_t size) {
    struct allocation *allocation = must(calloc(1, sizeof *allocation));
    *allocation = (struct allocation){.kind = kind,
                                      .context = context,
                                      .address = (uint64_t)(uintptr_t)pointer,
                                      .size = size,
                                      .view = pointer,
                                      .descriptor = -1};
    list_allocation(allocation);
    count(HOST, 1);
}

static CUresult allocate(struct context *context, void **pointer, size_t size, unsigned int flags) {
    if (pointer == NULL || size == 0 || (flags & ~ALLOCATE_FLAGS) != 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    pin(context, HOST_ALLOCATED, memory, size);
    *pointer = memory;
    return CUDA_SUCCESS;
}

CUresult CUDAAPI cuMemAllocHost_v2(void **pointer, size_t size) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    return result != CUDA_SUCCESS ? result : leave(context, allocate(context, pointer, size, 0));
}

CUresult CUDAAPI cuMemHostAlloc(void **pointer, size_t size, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    return result != CUDA_SUCCESS ? result : leave(context, allocate(context, pointer, size, flags));
}

/* Ends what begins at this pointer, after everything that may still use it. */
static CUresult unpin(const char *function, void *pointer, enum kind kind, CUresult unknown) {
    struct context *context;
    CUresult result = enter_to_release(function, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    struct allocation *allocation = find_allocation(address, 0);
    if (allocation == NULL || allocation->kind != kind || allocation->address != address) {
        result = unknown;
    } else {
        unlist_allocation(allocation);
        await_everything();
        release_allocation(allocation);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuMemFreeHost(void *pointer) {
    return unpin(__func__, pointer, HOST_ALLOCATED, CUDA_ERROR_INVALID_VALUE);
}

/* Whether all of it is memory of this process. */
static bool is_mapped(void *pointer, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)pointer & ~(page - 1);
    return msync((void *)begin, (uintptr_t)pointer + size - begin, MS_ASYNC) == 0;
}

CUresult CUDAAPI cuMemHostRegister_v2(void *pointer, size_t size, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct place place;
    if (size == 0 || (flags & ~REGISTER_FLAGS) != 0 || pointer == NULL ||
        in_device_range((uint64_t)(uintptr_t)pointer, size) || !is_mapped(pointer, size)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (host_place(pointer, size, &place) != CUDA_SUCCESS || place.allocation != NULL) {
        result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    } else {
        pin(context, HOST_REGISTERED, pointer, size);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuMemHostUnregister(void *pointer) {
    return unpin(__func__, pointer, HOST_REGISTERED, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

/* Addresses are the same on both sides. */
CUresult CUDAAPI cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *pointer, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct allocation *allocation = find_allocation((uint64_t)(uintptr_t)pointer, 0);
    if (address == NULL || flags != 0 || allocation == NULL ||
        (allocation->kind != HOST_ALLOCATED && allocation->kind != HOST_REGISTERED)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        *address = (CUdeviceptr)(uintptr_t)pointer;
    }
    return leave(context, result);
}
