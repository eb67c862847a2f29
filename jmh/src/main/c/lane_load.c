/* SPDX-License-Identifier: Apache-2.0
 *
 * The client of lanes in `jmh/run models`: each caller is a thread with a lane of its own, which asks, sleeps until the
 * response is there, and asks again.
 *
 *   lane_load SOCKET MODEL CALLERS SECONDS REQUEST DATA TENSOR...
 *
 * REQUEST is the JSON that prepares requests, DATA a file that is copied into each lane. A TENSOR is OFFSET:BYTES:DIM[,DIM...]
 * within it: the inputs and then the outputs, in the order of REQUEST. Prints
 *
 *   requests per second, median and 99th percentile in microseconds, count of requests
 */
#define _GNU_SOURCE
#include <pthread.h>

#include "gatun_lane.h"

enum { MAX_SAMPLES = 1 << 20 };

static const char *socket_path, *model, *request_json;
static uint8_t *data;
static size_t data_bytes;
static struct gatun_tensor tensors[GATUN_TENSORS];
static int tensor_count;
static double seconds;

struct caller {
    pthread_t thread;
    int failed;
    long samples;
    double *micros;
};

static double micros(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec * 1e6 + (double) time.tv_nsec * 1e-3;
}

static int ascending(const void *one, const void *other) {
    double a = *(const double *) one;
    double b = *(const double *) other;
    return (a > b) - (a < b);
}

static void *call(void *argument) {
    struct caller *caller = argument;
    struct gatun_lane lane;
    uint32_t prepared = 0;
    caller->failed = gatun_lane_open(&lane, socket_path, data_bytes);
    if (caller->failed == 0) {
        caller->failed = gatun_lane_prepare(&lane, model, request_json, &prepared);
        memcpy(lane.data, data, data_bytes);
    }
    double end = micros() + seconds * 1e6;
    for (double begin = micros(); caller->failed == 0 && begin < end && caller->samples < MAX_SAMPLES;) {
        struct gatun_slot *slot = gatun_slot(&lane, 0);
        slot->prepared = prepared;
        memcpy(slot->tensors, tensors, (size_t) tensor_count * sizeof *tensors);
        gatun_lane_submit(&lane, 0, GATUN_INFER);
        caller->failed = gatun_lane_wait(&lane, 0, 0) < 0 ? -1 : gatun_lane_failed(&lane, 0);
        double now = micros();
        caller->micros[caller->samples++] = now - begin;
        begin = now;
    }
    if (caller->failed != 0) {
        fprintf(stderr, "%s\n", lane.error);
    }
    gatun_lane_close(&lane);
    return NULL;
}

/* Reads OFFSET:BYTES:DIM[,DIM...]. */
static struct gatun_tensor tensor(char *text) {
    struct gatun_tensor tensor = {.offset = strtoull(text, &text, 10)};
    tensor.byte_size = strtoull(text + 1, &text, 10);
    while (*text != 0 && tensor.rank < GATUN_MAX_RANK) {
        tensor.dims[tensor.rank++] = strtoll(text + 1, &text, 10);
    }
    return tensor;
}

int main(int count, char **arguments) {
    if (count < 9 || count > 7 + GATUN_TENSORS) {
        fprintf(stderr, "usage: lane_load SOCKET MODEL CALLERS SECONDS REQUEST DATA TENSOR...\n");
        return 2;
    }
    socket_path = arguments[1];
    model = arguments[2];
    int caller_count = atoi(arguments[3]);
    seconds = atof(arguments[4]);
    request_json = arguments[5];
    FILE *file = fopen(arguments[6], "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(arguments[6]);
        return 1;
    }
    data_bytes = (size_t) ftell(file);
    rewind(file);
    data = malloc(data_bytes);
    if (fread(data, 1, data_bytes, file) != data_bytes) {
        perror(arguments[6]);
        return 1;
    }
    fclose(file);
    for (int i = 7; i < count; i++) {
        tensors[tensor_count++] = tensor(arguments[i]);
    }
    struct caller *callers = calloc((size_t) caller_count, sizeof *callers);
    for (int i = 0; i < caller_count; i++) {
        callers[i].micros = malloc(MAX_SAMPLES * sizeof(double));
        pthread_create(&callers[i].thread, NULL, call, &callers[i]);
    }
    long samples = 0;
    double *all = malloc((size_t) caller_count * MAX_SAMPLES * sizeof(double));
    for (int i = 0; i < caller_count; i++) {
        pthread_join(callers[i].thread, NULL);
        if (callers[i].failed != 0) {
            return 1;
        }
        memcpy(all + samples, callers[i].micros, (size_t) callers[i].samples * sizeof(double));
        samples += callers[i].samples;
    }
    qsort(all, (size_t) samples, sizeof(double), ascending);
    printf("%.2f %.1f %.1f %ld\n", (double) samples / seconds, all[samples / 2], all[(long) ((double) samples * 0.99)], samples);
    return 0;
}
