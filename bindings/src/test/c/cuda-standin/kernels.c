/*
 * The kernels that the stand-in knows by name: those of examples/kernels, in C. Each does what a grid of that size
 * would: elements for which there is no thread stay as they were.
 */
#include <errno.h>
#include <string.h>
#include <time.h>

#include "../../../../../examples/kernels/image_statistics.h"
#include "../../../../../examples/kernels/mlp_weights.h"
#include "standin.h"

/* How many of the first dimension's threads there are, or how many of them have something to do. */
static size_t threads(struct launch *launch, int64_t wanted) {
    uint64_t there = (uint64_t)launch->grid[0] * launch->block[0];
    return wanted < 0 ? 0 : (uint64_t)wanted < there ? (size_t)wanted : (size_t)there;
}

/* The bytes behind an argument; NULL, and the fault of the launch, where a GPU would report one. */
static void *reach(struct launch *launch, int argument, size_t count, size_t width) {
    static uint64_t nothing;
    uint64_t address = launch->arguments[argument].address;
    if (count == 0) {
        return &nothing;
    }
    if (address % width != 0) {
        launch->fault = CUDA_ERROR_MISALIGNED_ADDRESS;
        return NULL;
    }
    pthread_mutex_lock(&standin_lock);
    struct allocation *allocation = find_allocation(address, count * width);
    if (allocation != NULL && accessible(launch->context, allocation)) {
        allocation->references++;
        launch->pinned[launch->pinned_count++] = allocation;
    } else {
        allocation = NULL;
        launch->fault = CUDA_ERROR_ILLEGAL_ADDRESS;
    }
    pthread_mutex_unlock(&standin_lock);
    return allocation == NULL ? NULL : allocation->view + (address - allocation->address);
}

/* (const int *a, const int *b, int *sum, int *difference, int count) */
static CUresult vector_add_sub(struct launch *launch) {
    size_t count = threads(launch, launch->arguments[4].number);
    const int32_t *a = reach(launch, 0, count, sizeof *a);
    const int32_t *b = reach(launch, 1, count, sizeof *b);
    int32_t *sum = reach(launch, 2, count, sizeof *sum);
    int32_t *difference = reach(launch, 3, count, sizeof *difference);
    if (a == NULL || b == NULL || sum == NULL || difference == NULL) {
        return launch->fault;
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t left = (uint32_t)a[i];
        uint32_t right = (uint32_t)b[i];
        sum[i] = (int32_t)(left + right);
        difference[i] = (int32_t)(left - right);
    }
    return CUDA_SUCCESS;
}

/* (const unsigned char *image, float *out, int n, int h, int w): a thread for each pixel */
static CUresult normalise_transpose(struct launch *launch) {
    int64_t n = launch->arguments[2].number;
    int64_t pixels = (int64_t)launch->arguments[3].number * launch->arguments[4].number;
    if (n < 0 || pixels < 0) {
        return CUDA_SUCCESS;
    }
    size_t count = threads(launch, n * pixels);
    const unsigned char *image = reach(launch, 0, (size_t)(n * pixels) * CHANNELS, sizeof *image);
    float *out = reach(launch, 1, (size_t)(n * pixels) * CHANNELS, sizeof *out);
    if (image == NULL || out == NULL) {
        return launch->fault;
    }
    for (size_t i = 0; i < count; i++) {
        size_t picture = i / (size_t)pixels;
        size_t pixel = i % (size_t)pixels;
        for (size_t c = 0; c < CHANNELS; c++) {
            float value = (float)image[i * CHANNELS + c] / 255.0f;
            out[(picture * CHANNELS + c) * (size_t)pixels + pixel] = (value - image_mean[c]) / image_deviation[c];
        }
    }
    return CUDA_SUCCESS;
}

/* (const float *in, float *out, int rows): a thread for each row and neuron */
static CUresult layer(struct launch *launch, const float *weights, const float *bias, size_t inputs, size_t neurons,
                      bool relu) {
    int64_t rows = launch->arguments[2].number;
    if (rows < 0) {
        return CUDA_SUCCESS;
    }
    size_t count = threads(launch, rows * (int64_t)neurons);
    const float *in = reach(launch, 0, (size_t)rows * inputs, sizeof *in);
    float *out = reach(launch, 1, (size_t)rows * neurons, sizeof *out);
    if (in == NULL || out == NULL) {
        return launch->fault;
    }
    for (size_t i = 0; i < count; i++) {
        size_t row = i / neurons;
        size_t neuron = i % neurons;
        float sum = bias[neuron];
        for (size_t k = 0; k < inputs; k++) {
            sum += in[row * inputs + k] * weights[neuron * inputs + k];
        }
        out[i] = relu && sum < 0 ? 0 : sum;
    }
    return CUDA_SUCCESS;
}

static CUresult mlp_hidden1(struct launch *launch) {
    return layer(launch, mlp_weights1, mlp_bias1, MLP_INPUTS, MLP_HIDDEN, true);
}

static CUresult mlp_hidden2(struct launch *launch) {
    return layer(launch, mlp_weights2, mlp_bias2, MLP_HIDDEN, MLP_HIDDEN, true);
}

static CUresult mlp_output(struct launch *launch) {
    return layer(launch, mlp_weights3, mlp_bias3, MLP_HIDDEN, MLP_OUTPUTS, false);
}

/* (const unsigned char *from, unsigned char *to, long count) */
static CUresult copy_bytes(struct launch *launch) {
    size_t count = threads(launch, launch->arguments[2].large);
    const unsigned char *from = reach(launch, 0, count, sizeof *from);
    unsigned char *to = reach(launch, 1, count, sizeof *to);
    if (from == NULL || to == NULL) {
        return launch->fault;
    }
    memmove(to, from, count);
    return CUDA_SUCCESS;
}

/* (long nanos): a GPU is busy for that time, this thread only sleeps. */
static CUresult spin_nanoseconds(struct launch *launch) {
    int64_t nanos = launch->arguments[0].large;
    struct timespec left = {nanos / 1000000000, nanos % 1000000000};
    while (nanos > 0 && nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    return CUDA_SUCCESS;
}

/* (int *anything) */
static CUresult fault(struct launch *launch) {
    (void)launch;
    return CUDA_ERROR_ILLEGAL_ADDRESS;
}

static const struct kernel kernels[] = {
    {"vector_add_sub", "ppppi", vector_add_sub},
    {"normalise_transpose", "ppiii", normalise_transpose},
    {"mlp_hidden1", "ppi", mlp_hidden1},
    {"mlp_hidden2", "ppi", mlp_hidden2},
    {"mlp_output", "ppi", mlp_output},
    {"copy_bytes", "ppl", copy_bytes},
    {"spin_nanoseconds", "l", spin_nanoseconds},
    {"fault", "p", fault},
};

const struct kernel *find_kernel(const char *name) {
    for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            return &kernels[i];
        }
    }
    return NULL;
}
