/* Events: marks in the queue of a stream. One for several processes keeps its state in memory that they share. */
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "standin.h"

static const unsigned int FLAGS = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
/* How often a wait for another process looks whether that still lives. */
static const struct timespec LOOK = {0, 20 * 1000 * 1000};

static struct event *events;

struct event *find_event(CUevent handle) {
    for (struct event *each = events; each != NULL; each = each->next) {
        if (each->handle == (uint64_t)(uintptr_t)handle) {
            return each;
        }
    }
    return NULL;
}

struct event *new_event(struct context *context, unsigned int flags) {
    struct event *event = must(calloc(1, sizeof *event));
    *event = (struct event){
        .next = events, .handle = new_handle(), .context = context, .flags = flags, .descriptor = -1};
    events = event;
    count(EVENTS, 1);
    return event;
}

static void destroy_event(struct event *event) {
    struct event **link = &events;
    while (*link != event) {
        link = &(*link)->next;
    }
    *link = event->next;
    count(EVENTS, -1);
    if (event->recorded != NULL) {
        release_work(event->recorded);
    }
    if (event->shared != NULL) {
        await_everything(); /* what is queued may look at it */
        munmap(event->shared, sizeof *event->shared);
        close(event->descriptor);
    }
    free(event);
}

void free_events_of(struct context *context) {
    for (struct event *each = events; each != NULL;) {
        struct event *next = each->next;
        if (each->context == context) {
            destroy_event(each);
        }
        each = next;
    }
}

/* A place in the life of a shared event: the record with this number. */
struct moment {
    struct shared_event *shared;
    uint32_t number;
};

static bool has_passed(struct shared_event *shared, uint32_t number) {
    return (int32_t)(atomic_load(&shared->completed) - number) >= 0;
}

static CUresult run_record(void *payload) {
    struct moment *moment = payload;
    uint32_t completed = atomic_load(&moment->shared->completed);
    while (!has_passed(moment->shared, moment->number) &&
           !atomic_compare_exchange_weak(&moment->shared->completed, &completed, moment->number)) {
    }
    syscall(SYS_futex, &moment->shared->completed, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
    return CUDA_SUCCESS;
}

/* What a dead process recorded has happened. */
static CUresult run_wait(void *payload) {
    struct moment *moment = payload;
    while (!has_passed(moment->shared, moment->number) &&
           (kill(moment->shared->owner, 0) == 0 || errno != ESRCH)) {
        uint32_t seen = atomic_load(&moment->shared->completed);
        if (!has_passed(moment->shared, moment->number)) {
            syscall(SYS_futex, &moment->shared->completed, FUTEX_WAIT, seen, &LOOK, NULL, 0);
        }
    }
    return CUDA_SUCCESS;
}

static struct work *moment_work(struct event *event, uint32_t number, CUresult (*run)(void *payload)) {
    struct moment *moment = must(malloc(sizeof *moment));
    *moment = (struct moment){event->shared, number};
    return new_work(run, moment);
}

static bool is_complete(struct event *event) {
    if (event->shared != NULL) {
        return has_passed(event->shared, atomic_load(&event->shared->recorded)) ||
               (kill(event->shared->owner, 0) != 0 && errno == ESRCH);
    }
    return event->recorded == NULL || event->recorded->done;
}

CUresult CUDAAPI cuEventCreate(CUevent *handle, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    bool between_processes = (flags & CU_EVENT_INTERPROCESS) != 0;
    struct shared_event *shared = NULL;
    int descriptor = -1;
    if (handle == NULL || (flags & ~FLAGS) != 0 || (between_processes && (flags & CU_EVENT_DISABLE_TIMING) == 0)) {
        return leave(context, CUDA_ERROR_INVALID_VALUE);
    }
    if (between_processes) {
        descriptor = new_object("gatun-standin-event", sizeof *shared);
        shared = descriptor < 0
                     ? MAP_FAILED
                     : mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (shared == MAP_FAILED) {
            if (descriptor >= 0) {
                close(descriptor);
            }
            return leave(context, CUDA_ERROR_OUT_OF_MEMORY);
        }
        shared->owner = getpid();
    }
    struct event *event = new_event(context, flags);
    event->shared = shared;
    event->descriptor = descriptor;
    *handle = (CUevent)(uintptr_t)event->handle;
    return leave(context, result);
}

CUresult CUDAAPI cuEventDestroy_v2(CUevent handle) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(handle);
    if (event == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        destroy_event(event);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuEventRecord(CUevent handle, CUstream stream_handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(handle);
    struct stream *stream = find_stream(stream_handle, context);
    if (event == NULL || stream == NULL || event->context != stream->context) {
        return leave(context, CUDA_ERROR_INVALID_HANDLE);
    }
    struct work *work = event->shared == NULL
                            ? new_work(NULL, NULL)
                            : moment_work(event, atomic_fetch_add(&event->shared->recorded, 1) + 1, run_record);
    work->references++; /* the event's */
    if (event->recorded != NULL) {
        release_work(event->recorded);
    }
    event->recorded = work;
    submit(stream, work);
    return leave(context, result);
}

CUresult CUDAAPI cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(handle);
    struct stream *stream = find_stream(stream_handle, context);
    if (event == NULL || stream == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (flags != CU_EVENT_WAIT_DEFAULT && flags != CU_EVENT_WAIT_EXTERNAL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (!is_complete(event)) {
        struct work *work;
        if (event->shared == NULL) {
            work = new_work(NULL, NULL);
            wait_for_work(work, event->recorded);
        } else {
            work = moment_work(event, atomic_load(&event->shared->recorded), run_wait);
        }
        submit(stream, work);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuEventQuery(CUevent handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(handle);
    if (event == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (!is_complete(event)) {
        result = CUDA_ERROR_NOT_READY;
    }
    return leave(context, result);
}

CUresult CUDAAPI cuEventSynchronize(CUevent handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *event = find_event(handle);
    if (event == NULL) {
        return leave(context, CUDA_ERROR_INVALID_HANDLE);
    }
    if (event->shared == NULL) {
        struct context *recorded_in = event->context;
        await(event->recorded);
        return leave(context, recorded_in->failure);
    }
    uint32_t target = atomic_load(&event->shared->recorded);
    while (event != NULL && !has_passed(event->shared, target) && !is_complete(event)) {
        leave_library();
        nanosleep(&(struct timespec){0, 100 * 1000}, NULL);
        pthread_mutex_lock(&standin_lock);
        event = find_event(handle); /* it may have been destroyed meanwhile */
    }
    return leave(context, result);
}

CUresult CUDAAPI cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct event *first = find_event(start);
    struct event *second = find_event(end);
    if (milliseconds == NULL) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else if (first == NULL || second == NULL || first->context != second->context || first->recorded == NULL ||
               second->recorded == NULL || ((first->flags | second->flags) & CU_EVENT_DISABLE_TIMING) != 0) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (!is_complete(first) || !is_complete(second)) {
        result = CUDA_ERROR_NOT_READY;
    } else {
        *milliseconds = (float)(second->recorded->finished_nanos - first->recorded->finished_nanos) / 1e6f;
    }
    return leave(context, result);
}
