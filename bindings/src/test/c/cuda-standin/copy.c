/* Copies and fills, all of them through the queue of a stream. */
#include <stdlib.h>
#include <string.h>

#include "standin.h"

struct copy {
    unsigned char *to;
    const unsigned char *from;
    size_t size;
    unsigned char staged[]; /* what pageable host memory held at the call */
};

struct fill {
    unsigned char *to;
    size_t count;
    size_t width;
    uint32_t value;
};

enum wait { NO_WAIT, WAIT_FOR_HOST };

static CUresult run_copy(void *payload) {
    struct copy *copy = payload;
    memcpy(copy->to, copy->from, copy->size);
    return CUDA_SUCCESS;
}

static CUresult run_fill(void *payload) {
    struct fill *fill = payload;
    if (fill->width == 1) {
        memset(fill->to, (int)fill->value, fill->count);
        return CUDA_SUCCESS;
    }
    for (size_t i = 0; i < fill->count; i++) {
        memcpy(fill->to + i * sizeof fill->value, &fill->value, sizeof fill->value);
    }
    return CUDA_SUCCESS;
}

static struct work *copy_work(struct place to, struct place from, size_t size, bool stage) {
    struct copy *copy = must(malloc(sizeof *copy + (stage ? size : 0)));
    *copy = (struct copy){to.bytes, stage ? copy->staged : from.bytes, size};
    if (stage) {
        memcpy(copy->staged, from.bytes, size);
    }
    struct work *work = new_work(run_copy, copy);
    use(work, to.allocation);
    use(work, from.allocation);
    count(COPIES, 1);
    count(COPIED_BYTES, (long)size);
    return work;
}

/* Waits, where the caller may do what it likes with the host memory afterwards. */
static void enqueue(struct stream *stream, struct work *work, bool wait) {
    submit(stream, work);
    if (wait) {
        await(work);
    }
}

/* As `enter`, with the stream; the lock is held only after CUDA_SUCCESS. */
static CUresult enter_stream(const char *function, CUstream handle, struct context **context, struct stream **stream) {
    CUresult result = enter(function, context);
    if (result == CUDA_SUCCESS) {
        *stream = find_stream(handle, *context);
        if (*stream == NULL) {
            result = leave(*context, CUDA_ERROR_INVALID_HANDLE);
        }
    }
    return result;
}

/* Pageable memory is read at once, whichever call it is; a synchronous call waits for pinned memory to be read. */
static CUresult to_device(const char *function, CUdeviceptr to, const void *from, size_t size, CUstream handle, bool wait) {
    struct context *context;
    struct stream *stream;
    CUresult result = enter_stream(function, handle, &context, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct place target;
    struct place source;
    if (size > 0 && ((result = device_place(to, size, &target)) != CUDA_SUCCESS ||
                     (result = host_place(from, size, &source)) != CUDA_SUCCESS)) {
        return leave(context, result);
    }
    if (size > 0) {
        bool pageable = source.allocation == NULL;
        count(PAGEABLE, pageable);
        enqueue(stream, copy_work(target, source, size, pageable), wait && !pageable);
    }
    return leave(context, result);
}

/* Pageable memory is written before the call returns, whichever it is. */
static CUresult to_host(const char *function, void *to, CUdeviceptr from, size_t size, CUstream handle, bool wait) {
    struct context *context;
    struct stream *stream;
    CUresult result = enter_stream(function, handle, &context, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct place target;
    struct place source;
    if (size > 0 && ((result = host_place(to, size, &target)) != CUDA_SUCCESS ||
                     (result = device_place(from, size, &source)) != CUDA_SUCCESS)) {
        return leave(context, result);
    }
    if (size > 0) {
        bool pageable = target.allocation == NULL;
        count(PAGEABLE, pageable);
        enqueue(stream, copy_work(target, source, size, false), wait || pageable);
    }
    return leave(context, result);
}

/* Never waits. Ranges that overlap have no defined content on a device, so they are an error here. */
static CUresult on_device(const char *function, CUdeviceptr to, CUdeviceptr from, size_t size, CUstream handle) {
    struct context *context;
    struct stream *stream;
    CUresult result = enter_stream(function, handle, &context, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct place target;
    struct place source;
    if (size > 0 && ((result = device_place(to, size, &target)) != CUDA_SUCCESS ||
                     (result = device_place(from, size, &source)) != CUDA_SUCCESS)) {
        return leave(context, result);
    }
    if (to < from + size && from < to + size) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (size > 0) {
        enqueue(stream, copy_work(target, source, size, false), NO_WAIT);
    }
    return leave(context, result);
}

static CUresult fill(const char *function, CUdeviceptr to, uint32_t value, size_t width, size_t count, CUstream handle) {
    struct context *context;
    struct stream *stream;
    CUresult result = enter_stream(function, handle, &context, &stream);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct place target;
    size_t size;
    if (__builtin_mul_overflow(count, width, &size) || to % width != 0) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (size > 0 && (result = device_place(to, size, &target)) == CUDA_SUCCESS) {
        struct fill *payload = must(malloc(sizeof *payload));
        *payload = (struct fill){target.bytes, count, width, value};
        struct work *work = new_work(run_fill, payload);
        use(work, target.allocation);
        enqueue(stream, work, NO_WAIT);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    return to_device(__func__, to, from, size, NULL, WAIT_FOR_HOST);
}

CUresult CUDAAPI cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return to_device(__func__, to, from, size, stream, NO_WAIT);
}

CUresult CUDAAPI cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    return to_host(__func__, to, from, size, NULL, WAIT_FOR_HOST);
}

CUresult CUDAAPI cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    return to_host(__func__, to, from, size, stream, NO_WAIT);
}

CUresult CUDAAPI cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    return on_device(__func__, to, from, size, NULL);
}

CUresult CUDAAPI cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    return on_device(__func__, to, from, size, stream);
}

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) {
    return fill(__func__, to, value, sizeof value, count, NULL);
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
    return fill(__func__, to, value, sizeof value, count, stream);
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr to, unsigned int value, size_t count, CUstream stream) {
    return fill(__func__, to, value, sizeof value, count, stream);
}
