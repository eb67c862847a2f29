/*
 * The baselines of TensorFlowRunBenchmark: TF_SessionRun of TensorFlow's C API in a loop, as a C program would call it. Built by the
 * benchmark's setup against the header that the bindings were generated from; the functions come as pointers, since the library is opened
 * by the process already.
 */
#include "tensorflow.h"

#include <string.h>

struct tf_functions {
    void (*run)(TF_Session *, const TF_Buffer *, const TF_Output *, TF_Tensor *const *, int, const TF_Output *, TF_Tensor **, int,
                const TF_Operation *const *, int, TF_Buffer *, TF_Status *);
    TF_Tensor *(*new_tensor)(TF_DataType, const int64_t *, int, void *, size_t, TF_Deallocator, void *);
    void (*delete_tensor)(TF_Tensor *);
    void *(*data)(const TF_Tensor *);
    TF_Code (*code)(const TF_Status *);
};

static void nothing_to_free(void *data, size_t length, void *argument) {
}

/* Runs `count` times with one tensor that is made before, and frees what comes out; returns the first code that is not TF_OK. */
int tf_loop(const struct tf_functions *tf, TF_Session *session, const TF_Output *in, const TF_Output *out, const int64_t *dims,
            int rank, void *source, void *target, size_t length, TF_Status *status, long count) {
    TF_Tensor *input = tf->new_tensor(TF_FLOAT, dims, rank, source, length, nothing_to_free, NULL);
    for (long i = 0; i < count && tf->code(status) == TF_OK; i++) {
        TF_Tensor *output = NULL;
        tf->run(session, NULL, in, &input, 1, out, &output, 1, NULL, 0, NULL, status);
        if (output != NULL) {
            tf->delete_tensor(output);
        }
    }
    tf->delete_tensor(input);
    return tf->code(status);
}

/* As a server does: each time the request's memory becomes a tensor, and the answer is copied to where it belongs. */
int tf_requests(const struct tf_functions *tf, TF_Session *session, const TF_Output *in, const TF_Output *out, const int64_t *dims,
                int rank, void *source, void *target, size_t length, TF_Status *status, long count) {
    for (long i = 0; i < count && tf->code(status) == TF_OK; i++) {
        TF_Tensor *input = tf->new_tensor(TF_FLOAT, dims, rank, source, length, nothing_to_free, NULL);
        TF_Tensor *output = NULL;
        tf->run(session, NULL, in, &input, 1, out, &output, 1, NULL, 0, NULL, status);
        if (output != NULL) {
            memcpy(target, tf->data(output), length);
            tf->delete_tensor(output);
        }
        tf->delete_tensor(input);
    }
    return tf->code(status);
}
