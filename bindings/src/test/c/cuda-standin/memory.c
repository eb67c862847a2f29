/*
 * Device memory. Each allocation is a memory object of its own without a name. Its address as CUDA tells it lies in a
 * range that this process reserves and nobody may touch; copies and kernels use a second mapping, the view.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "standin.h"

/* Addresses are never used again: what points to memory that was freed points to nothing for ever. */
static const size_t MOST_RESERVED = (size_t)1 << 42;
static const size_t LEAST_RESERVED = (size_t)1 << 36;
static const size_t PAGE = 4096;
/* Fresh memory is full of this, unless there is so much that filling it would take long. */
enum { FRESH = 0xCD };
static const size_t MOST_FILLED = (size_t)16 << 20;

static uint64_t reserved_from;
static size_t reserved;
static uint64_t next_address;
static struct allocation *allocations;

/* Less than the most where the process may not have so much. */
static bool reserve(void) {
    void *range = MAP_FAILED;
    for (reserved = MOST_RESERVED; range == MAP_FAILED && reserved >= LEAST_RESERVED; reserved /= 2) {
        range = mmap(NULL, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    if (range == MAP_FAILED) {
        return false;
    }
    reserved *= 2; /* the loop halved it once more */
    madvise(range, reserved, MADV_DONTDUMP);
    reserved_from = (uint64_t)(uintptr_t)range;
    next_address = reserved_from;
    return true;
}

/* Room for so many bytes and a page that belongs to nobody; 0 when all addresses are used up. */
static uint64_t take_address(size_t size) {
    if (reserved_from == 0 && !reserve()) {
        return 0;
    }
    size_t room = ((size + PAGE - 1) & ~(PAGE - 1)) + PAGE;
    if (room > reserved_from + reserved - next_address) {
        return 0;
    }
    uint64_t address = next_address;
    next_address += room;
    return address;
}

bool in_device_range(uint64_t address, size_t size) {
    return reserved_from != 0 && address < reserved_from + reserved && address + size > reserved_from;
}

/* A memory object that lives as long as somebody has it open or mapped; -1 when there is none to be had. */
int new_object(const char *name, size_t size) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor >= 0 && (ftruncate(descriptor, (off_t)size) != 0 ||
                            fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

uint64_t object_identity(int descriptor) {
    struct stat status;
    return fstat(descriptor, &status) == 0 ? (uint64_t)status.st_ino : 0;
}

void list_allocation(struct allocation *allocation) {
    allocation->references = 1;
    allocation->next = allocations;
    allocations = allocation;
}

/* From here on nobody finds it; its reference is the caller's. */
void unlist_allocation(struct allocation *allocation) {
    struct allocation **link = &allocations;
    while (*link != allocation) {
        link = &(*link)->next;
    }
    *link = allocation->next;
    switch (allocation->kind) {
    case DEVICE_MEMORY:
    case POOL_MEMORY:
        count(ALLOCATIONS, -1);
        break;
    case IMPORTED_MEMORY:
        count(MAPPINGS, -1);
        break;
    default:
        count(HOST, -1);
    }
}

void release_allocation(struct allocation *allocation) {
    if (--allocation->references > 0) {
        return;
    }
    if (allocation->kind == DEVICE_MEMORY || allocation->kind == POOL_MEMORY) {
        allocation->context->used -= allocation->size;
    }
    if (allocation->kind != HOST_REGISTERED) {
        munmap(allocation->view, allocation->size);
    }
    if (allocation->descriptor >= 0) {
        close(allocation->descriptor);
    }
    free(allocation);
}

/* Maps a memory object, whose descriptor is the allocation's from then on; NULL where that fails. */
struct allocation *map_object(struct context *context, enum kind kind, int descriptor, size_t size) {
    void *view = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    uint64_t address = view == MAP_FAILED ? 0 : take_address(size);
    if (address == 0) {
        if (view != MAP_FAILED) {
            munmap(view, size);
        }
        return NULL;
    }
    struct allocation *allocation = must(calloc(1, sizeof *allocation));
    *allocation = (struct allocation){.kind = kind,
                                      .context = context,
                                      .address = address,
                                      .size = size,
                                      .view = view,
                                      .descriptor = descriptor,
                                      .identity = object_identity(descriptor)};
    list_allocation(allocation);
    return allocation;
}

struct allocation *find_allocation(uint64_t address, size_t size) {
    for (struct allocation *each = allocations; each != NULL; each = each->next) {
        if (address >= each->address && address - each->address < each->size &&
            size <= each->size - (address - each->address)) {
            return each;
        }
    }
    return NULL;
}

struct allocation *imported(struct context *context, uint64_t identity) {
    for (struct allocation *each = allocations; each != NULL; each = each->next) {
        if (each->kind == IMPORTED_MEMORY && each->context == context && each->identity == identity) {
            return each;
        }
    }
    return NULL;
}

/* Whether a kernel of this context may touch it. */
bool accessible(struct context *context, struct allocation *allocation) {
    return allocation->kind == HOST_ALLOCATED || allocation->kind == HOST_REGISTERED ||
           allocation->context == context || context->peers[allocation->context->device];
}

CUresult device_place(uint64_t address, size_t size, struct place *place) {
    struct allocation *allocation = find_allocation(address, size);
    if (allocation == NULL) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    *place = (struct place){allocation->view + (address - allocation->address), allocation};
    return CUDA_SUCCESS;
}

/* Host memory: pinned as a whole, or not known to CUDA at all. */
CUresult host_place(const void *pointer, size_t size, struct place *place) {
    uint64_t address = (uint64_t)(uintptr_t)pointer;
    if (pointer == NULL || in_device_range(address, size)) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    struct allocation *allocation = find_allocation(address, size);
    if (allocation == NULL) {
        for (struct allocation *each = allocations; each != NULL; each = each->next) {
            if (address < each->address + each->size && each->address < address + size) {
                return CUDA_ERROR_INVALID_VALUE;
            }
        }
    }
    *place = (struct place){(unsigned char *)(uintptr_t)address, allocation};
    return CUDA_SUCCESS;
}

void free_memory_of(struct context *context) {
    for (struct allocation *each = allocations; each != NULL;) {
        struct allocation *next = each->next;
        if (each->context == context) {
            unlist_allocation(each);
            release_allocation(each);
        }
        each = next;
    }
}

static CUresult allocate(struct context *context, enum kind kind, CUdeviceptr *address, size_t size) {
    if (address == NULL || size == 0) {
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (size > total_memory() - context->used) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    int descriptor = new_object("gatun-standin-memory", size);
    struct allocation *allocation = descriptor < 0 ? NULL : map_object(context, kind, descriptor, size);
    if (allocation == NULL) {
        if (descriptor >= 0) {
            close(descriptor);
        }
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    if (size <= MOST_FILLED) {
        memset(allocation->view, FRESH, size);
    }
    context->used += size;
    count(ALLOCATIONS, 1);
    *address = allocation->address;
    return CUDA_SUCCESS;
}

/* What begins at this address and was allocated on a device here. */
static struct allocation *own_allocation(CUdeviceptr address) {
    struct allocation *allocation = find_allocation(address, 0);
    bool own = allocation != NULL && allocation->address == address &&
               (allocation->kind == DEVICE_MEMORY || allocation->kind == POOL_MEMORY);
    return own ? allocation : NULL;
}

CUresult CUDAAPI cuMemAlloc_v2(CUdeviceptr *address, size_t size) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    return result != CUDA_SUCCESS ? result : leave(context, allocate(context, DEVICE_MEMORY, address, size));
}

CUresult CUDAAPI cuMemFree_v2(CUdeviceptr address) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct allocation *allocation = own_allocation(address);
    if (allocation == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        unlist_allocation(allocation);
        await_context(allocation->context);
        release_allocation(allocation);
    }
    return leave(context, result);
}

/* Memory is there at once; only its end is ordered by the stream. */
CUresult CUDAAPI cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct stream *stream = find_stream(handle, context);
    result = stream == NULL ? CUDA_ERROR_INVALID_HANDLE : allocate(stream->context, POOL_MEMORY, address, size);
    return leave(context, result);
}

CUresult CUDAAPI cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct stream *stream = find_stream(handle, context);
    struct allocation *allocation = own_allocation(address);
    if (stream == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (allocation == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        unlist_allocation(allocation);
        struct work *end = new_work(NULL, NULL);
        use(end, allocation);
        release_allocation(allocation);
        submit(stream, end);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuMemGetInfo_v2(size_t *available, size_t *total) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (available == NULL || total == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        *available = total_memory() - context->used;
        *total = total_memory();
    }
    return leave(context, result);
}

CUresult CUDAAPI cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct allocation *allocation = find_allocation(address, 0);
    if (allocation == NULL) {
        result = CUDA_ERROR_NOT_FOUND;
    } else {
        if (base != NULL) {
            *base = allocation->address;
        }
        if (size != NULL) {
            *size = allocation->size;
        }
    }
    return leave(context, result);
}

static CUresult describe(struct allocation *allocation, CUdeviceptr address, CUpointer_attribute attribute, void *value) {
    bool host = allocation->kind == HOST_ALLOCATED || allocation->kind == HOST_REGISTERED;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        *(CUcontext *)value = (CUcontext)(uintptr_t)allocation->context->handle;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned int *)value = host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        *(CUdeviceptr *)value = address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        if (!host) {
            return CUDA_ERROR_INVALID_VALUE;
        }
        *(void **)value = (void *)(uintptr_t)address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)value = allocation->identity;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned int *)value = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)value = allocation->context->device;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        *(int *)value = allocation->kind == DEVICE_MEMORY;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)value = allocation->address;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)value = allocation->size;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(unsigned int *)value = 1;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

CUresult CUDAAPI cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct allocation *allocation = find_allocation(address, 0);
    result = value == NULL || allocation == NULL ? CUDA_ERROR_INVALID_VALUE
                                                 : describe(allocation, address, attribute, value);
    return leave(context, result);
}
