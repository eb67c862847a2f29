/*
 * The baseline of OnnxRunBenchmark: calls Run of ONNX Runtime's C API in a loop, as a C program would. Built by the benchmark's setup
 * against the header that the bindings were generated from.
 */
#include "onnxruntime.h"

/* Runs `count` times; returns the status of the first run that failed, or NULL. */
OrtStatus *ort_loop(const struct OrtApi *api, OrtSession *session, const char *const *input_names,
                    const OrtValue *const *inputs, size_t input_count, const char *const *output_names,
                    size_t output_count, OrtValue **outputs, long count) {
    for (long i = 0; i < count; i++) {
        OrtStatus *status = api->Run(session, NULL, input_names, inputs, input_count, output_names, output_count, outputs);
        if (status != NULL) {
            return status;
        }
    }
    return NULL;
}
