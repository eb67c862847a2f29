/*
 * Streams. Each is a queue and a thread that works through it, so that a copy which nobody waited for may not have
 * happened yet. The null stream of a context and its blocking streams wait for each other, as CUDA has it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

#include "standin.h"

pthread_mutex_t standin_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t standin_progress = PTHREAD_COND_INITIALIZER;

static struct stream *streams; /* the destroyed ones too, until their work is done */
static uint64_t last_serial;

struct work *new_work(CUresult (*run)(void *payload), void *payload) {
    struct work *work = must(calloc(1, sizeof *work));
    work->references = 1;
    work->run = run;
    work->payload = payload;
    return work;
}

/* Keeps the memory mapped until the work is done. */
void use(struct work *work, struct allocation *allocation) {
    if (allocation != NULL) {
        allocation->references++;
        work->uses[work->uses[0] == NULL ? 0 : 1] = allocation;
    }
}

void wait_for_work(struct work *work, struct work *other) {
    if (other != NULL && !other->done) {
        other->references++;
        work->waits_for = must(realloc(work->waits_for, sizeof(struct work *) * (size_t)(work->waits + 1)));
        work->waits_for[work->waits++] = other;
    }
}

void release_work(struct work *work) {
    if (--work->references == 0) {
        free(work->payload);
        free(work);
    }
}

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void pause_for(long micros) {
    struct timespec left = {micros / 1000000, micros % 1000000 * 1000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static void finish(struct stream *stream, struct work *work) {
    work->finished_nanos = now();
    work->done = true;
    stream->first = work->next;
    if (stream->first == NULL) {
        stream->last = NULL;
    }
    for (int i = 0; i < work->waits; i++) {
        release_work(work->waits_for[i]);
    }
    free(work->waits_for);
    work->waits_for = NULL;
    work->waits = 0;
    for (int i = 0; i < 2; i++) {
        if (work->uses[i] != NULL) {
            release_allocation(work->uses[i]);
        }
    }
    release_work(work);
    pthread_cond_broadcast(&standin_progress);
}

/* After an error that sticks, a device does nothing any more: the rest of the queue only passes. */
static void carry_out(struct stream *stream, struct work *work) {
    for (int i = 0; i < work->waits; i++) {
        while (!work->waits_for[i]->done) {
            pthread_cond_wait(&standin_progress, &standin_lock);
        }
    }
    while (work->delay_micros < 0 && !is_released(work->serial)) {
        pthread_cond_wait(&standin_progress, &standin_lock);
    }
    long micros = work->delay_micros;
    if (stream->context->failure == CUDA_SUCCESS && (work->run != NULL || micros > 0)) {
        pthread_mutex_unlock(&standin_lock);
        if (micros > 0) {
            pause_for(micros);
        }
        CUresult result = work->run == NULL ? CUDA_SUCCESS : work->run(work->payload);
        pthread_mutex_lock(&standin_lock);
        if (result != CUDA_SUCCESS && stream->context->failure == CUDA_SUCCESS) {
            stream->context->failure = result;
        }
    }
    finish(stream, work);
}

static void unlink_stream(struct stream *stream) {
    struct stream **link = &streams;
    while (*link != stream) {
        link = &(*link)->next;
    }
    *link = stream->next;
    pthread_cond_destroy(&stream->arrived);
    free(stream);
}

static void *work_through(void *argument) {
    struct stream *stream = argument;
    pthread_mutex_lock(&standin_lock);
    while (true) {
        if (stream->first != NULL) {
            carry_out(stream, stream->first);
        } else if (stream->destroyed) {
            unlink_stream(stream);
            pthread_mutex_unlock(&standin_lock);
            return NULL;
        } else {
            pthread_cond_wait(&stream->arrived, &standin_lock);
        }
    }
}

/* A thread of the driver: the signals of the process are not for it. */
static void start_worker(struct stream *stream) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_through, stream) != 0) {
        must(NULL);
    }
    pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    stream->started = true;
}

static struct stream *new_stream(struct context *context, uint64_t handle, bool blocking) {
    struct stream *stream = must(calloc(1, sizeof *stream));
    stream->handle = handle;
    stream->context = context;
    stream->blocking = blocking;
    pthread_cond_init(&stream->arrived, NULL);
    stream->next = streams;
    streams = stream;
    return stream;
}

static struct stream *null_stream(struct context *context) {
    if (context->null_stream == NULL) {
        context->null_stream = new_stream(context, 0, true);
    }
    return context->null_stream;
}

struct stream *find_stream(CUstream handle, struct context *current) {
    if (handle == NULL || handle == CU_STREAM_LEGACY) {
        return null_stream(current);
    }
    for (struct stream *each = streams; each != NULL; each = each->next) {
        if (each->handle == (uint64_t)(uintptr_t)handle && !each->destroyed) {
            return each;
        }
    }
    return NULL;
}

/* The work is the stream's from then on. */
void submit(struct stream *stream, struct work *work) {
    struct context *context = stream->context;
    if (stream == context->null_stream) {
        for (struct stream *each = streams; each != NULL; each = each->next) {
            if (each != stream && each->context == context && each->blocking) {
                wait_for_work(work, each->last);
            }
        }
    } else if (stream->blocking && context->null_stream != NULL) {
        wait_for_work(work, context->null_stream->last);
    }
    work->serial = ++last_serial;
    work->delay_micros = delay_micros();
    if (stream->last == NULL) {
        stream->first = work;
    } else {
        stream->last->next = work;
    }
    stream->last = work;
    if (!stream->started) {
        start_worker(stream);
    }
    pthread_cond_signal(&stream->arrived);
}

void await(struct work *work) {
    if (work == NULL || work->done) {
        return;
    }
    work->references++;
    while (!work->done) {
        pthread_cond_wait(&standin_progress, &standin_lock);
    }
    release_work(work);
}

uint64_t newest_serial(void) {
    return last_serial;
}

/* Waits for what was queued until now, of one context or of all (NULL). */
static void await_older(struct context *context, uint64_t serial) {
    for (struct stream *each = streams; each != NULL;) {
        if ((context == NULL || each->context == context) && each->first != NULL && each->first->serial <= serial) {
            pthread_cond_wait(&standin_progress, &standin_lock);
            each = streams; /* the list may be another one now */
        } else {
            each = each->next;
        }
    }
}

void await_context(struct context *context) {
    await_older(context, last_serial);
}

void await_everything(void) {
    await_older(NULL, last_serial);
}

/* The stream ends when its work is done. */
static void destroy_stream(struct stream *stream) {
    stream->destroyed = true;
    if (stream->handle != 0) {
        count(STREAMS, -1);
    }
    if (stream->started) {
        pthread_cond_signal(&stream->arrived);
    } else {
        unlink_stream(stream);
    }
}

void free_streams_of(struct context *context) {
    for (struct stream *each = streams; each != NULL;) {
        struct stream *next = each->next;
        if (each->context == context && !each->destroyed) {
            destroy_stream(each);
        }
        each = next;
    }
    context->null_stream = NULL;
}

CUresult CUDAAPI cuStreamCreate(CUstream *handle, unsigned int flags) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    if (handle == NULL || (flags != CU_STREAM_DEFAULT && flags != CU_STREAM_NON_BLOCKING)) {
        result = CUDA_ERROR_INVALID_VALUE;
    } else {
        struct stream *stream = new_stream(context, new_handle(), flags == CU_STREAM_DEFAULT);
        count(STREAMS, 1);
        *handle = (CUstream)(uintptr_t)stream->handle;
    }
    return leave(context, result);
}

CUresult CUDAAPI cuStreamDestroy_v2(CUstream handle) {
    struct context *context;
    CUresult result = enter_to_release(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct stream *stream = find_stream(handle, context);
    if (stream == NULL || stream->handle == 0) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        destroy_stream(stream);
    }
    return leave(context, result);
}

CUresult CUDAAPI cuStreamQuery(CUstream handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct stream *stream = find_stream(handle, context);
    if (stream == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else if (stream->first != NULL) {
        result = CUDA_ERROR_NOT_READY;
    } else if (stream->context->failure != CUDA_SUCCESS) {
        result = stream->context->failure;
    }
    return leave(context, result);
}

CUresult CUDAAPI cuStreamSynchronize(CUstream handle) {
    struct context *context;
    CUresult result = enter(__func__, &context);
    if (result != CUDA_SUCCESS) {
        return result;
    }
    struct stream *stream = find_stream(handle, context);
    if (stream == NULL) {
        result = CUDA_ERROR_INVALID_HANDLE;
    } else {
        struct context *worked_on = stream->context; /* the stream may be destroyed meanwhile */
        await(stream->last);
        result = worked_on->failure;
    }
    return leave(context, result);
}
