/*
 * The baseline of `jmh/run models`: what a C program reaches that runs a model from several threads.
 *
 *   session_load LIBRARY MODEL SESSIONS CALLERS BATCH LENGTH WARM_SECONDS SECONDS [THREADS [KEY=VALUE...]]
 *
 * Opens MODEL that many times and has CALLERS threads run it in a loop, thread i session i modulo SESSIONS. A first
 * dimension that varies is BATCH, any other LENGTH; inputs are numbers between 0 and 1, or whole ones below 100. THREADS
 * is the number of threads within an operator (0: the library's default), or g and the number of those of one pool for
 * all sessions; KEY=VALUE are its session options, and some of this program:
 *
 *   loop.one_at_a_time=1  a session runs for one caller at a time, as an instance of a server does
 *   loop.spinning=0       the threads of a pool for all sessions do not look for work before they sleep
 *
 * Prints
 *
 *   runs per second, median and 99th percentile in microseconds, processor microseconds for each run
 */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <time.h>

#include "sessions.h"

enum { MAX_SAMPLES = 1 << 20 };

static atomic_bool measuring, ended;

/* One thread with tensors of its own. */
struct caller {
    pthread_t thread;
    OrtSession *session;
    pthread_mutex_t *turn; /* NULL where a session runs for several callers at a time */
    OrtValue *inputs[MAX_TENSORS], *outputs[MAX_TENSORS];
    const char *input_names[MAX_TENSORS], *output_names[MAX_TENSORS];
    size_t input_count, output_count;
    long samples;
    double *microseconds;
};

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static OrtValue *random_input(OrtSession *session, size_t index, long batch, long length) {
    struct input input = describe_input(session, index, batch, length);
    void *data = aligned_alloc(64, (input.byte_size + 63) / 64 * 64);
    for (size_t i = 0; i < input.count; i++) {
        if (input.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64) {
            ((int64_t *)data)[i] = rand() % 100;
        } else {
            ((float *)data)[i] = (float)rand() / (float)RAND_MAX;
        }
    }
    OrtValue *value;
    check(api->CreateTensorWithDataAsOrtValue(memory, data, input.byte_size, input.shape, input.rank, input.element,
                                              &value));
    return value;
}

static void *run(void *argument) {
    struct caller *caller = argument;
    while (!atomic_load_explicit(&ended, memory_order_relaxed)) {
        double begin = now(CLOCK_MONOTONIC);
        if (caller->turn != NULL) {
            pthread_mutex_lock(caller->turn);
        }
        check(api->Run(caller->session, NULL, caller->input_names, (const OrtValue *const *)caller->inputs,
                       caller->input_count, caller->output_names, caller->output_count, caller->outputs));
        if (caller->turn != NULL) {
            pthread_mutex_unlock(caller->turn);
        }
        for (size_t i = 0; i < caller->output_count; i++) {
            api->ReleaseValue(caller->outputs[i]);
            caller->outputs[i] = NULL;
        }
        if (atomic_load_explicit(&measuring, memory_order_relaxed) && caller->samples < MAX_SAMPLES) {
            caller->microseconds[caller->samples++] = (now(CLOCK_MONOTONIC) - begin) * 1e6;
        }
    }
    return NULL;
}

static int ascending(const void *left, const void *right) {
    double difference = *(const double *)left - *(const double *)right;
    return difference < 0 ? -1 : difference > 0;
}

static void sleep_for(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds, .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

int main(int count, char **arguments) {
    if (count < 9) {
        fprintf(stderr, "session_load LIBRARY MODEL SESSIONS CALLERS BATCH LENGTH WARM_SECONDS SECONDS [THREADS [KEY=VALUE...]]\n");
        return 2;
    }
    int session_count = atoi(arguments[3]), caller_count = atoi(arguments[4]);
    long batch = atol(arguments[5]), length = atol(arguments[6]);
    struct options options = {count - 9, arguments + 9};
    OrtSession **sessions = open_sessions(arguments[1], arguments[2], session_count, options);
    bool one_at_a_time = atoi(own_option(options, "loop.one_at_a_time", "0"));
    pthread_mutex_t *turns = calloc((size_t)session_count, sizeof *turns);
    for (int i = 0; i < session_count; i++) {
        pthread_mutex_init(&turns[i], NULL);
    }
    struct caller *callers = calloc((size_t)caller_count, sizeof *callers);
    for (int i = 0; i < caller_count; i++) {
        struct caller *caller = &callers[i];
        caller->session = sessions[i % session_count];
        caller->turn = one_at_a_time ? &turns[i % session_count] : NULL;
        caller->microseconds = malloc(MAX_SAMPLES * sizeof(double));
        check(api->SessionGetInputCount(caller->session, &caller->input_count));
        check(api->SessionGetOutputCount(caller->session, &caller->output_count));
        for (size_t j = 0; j < caller->input_count; j++) {
            check(api->SessionGetInputName(caller->session, j, allocator, (char **)&caller->input_names[j]));
            caller->inputs[j] = random_input(caller->session, j, batch, length);
        }
        for (size_t j = 0; j < caller->output_count; j++) {
            check(api->SessionGetOutputName(caller->session, j, allocator, (char **)&caller->output_names[j]));
        }
    }
    for (int i = 0; i < caller_count; i++) {
        pthread_create(&callers[i].thread, NULL, run, &callers[i]);
    }
    sleep_for(atof(arguments[7]));
    double cpu = now(CLOCK_PROCESS_CPUTIME_ID), begin = now(CLOCK_MONOTONIC);
    atomic_store(&measuring, true);
    sleep_for(atof(arguments[8]));
    atomic_store(&measuring, false);
    cpu = now(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    double seconds = now(CLOCK_MONOTONIC) - begin;
    atomic_store(&ended, true);
    long samples = 0;
    double *all = malloc((size_t)caller_count * MAX_SAMPLES * sizeof(double));
    for (int i = 0; i < caller_count; i++) {
        pthread_join(callers[i].thread, NULL);
        memcpy(all + samples, callers[i].microseconds, (size_t)callers[i].samples * sizeof(double));
        samples += callers[i].samples;
    }
    if (samples == 0) {
        fprintf(stderr, "no run ended in %s s\n", arguments[8]);
        return 1;
    }
    qsort(all, (size_t)samples, sizeof(double), ascending);
    printf("%.2f %.1f %.1f %.1f\n", (double)samples / seconds, all[samples / 2], all[(long)((double)samples * 0.99)],
           cpu * 1e6 / (double)samples);
    return 0;
}
