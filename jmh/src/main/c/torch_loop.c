/*
 * The baseline of TorchComparison: runs of a compiled model of PyTorch in a loop, as a C program would run it. Built by the benchmark's
 * setup; the functions come as pointers, since the libraries are opened by the process already.
 */
#include <stdint.h>
#include <string.h>

typedef int32_t (*create_tensor)(void *data, int64_t rank, const int64_t *sizes, const int64_t *strides, int64_t offset, int32_t type,
                                 int32_t device, int32_t index, void **out);
typedef int32_t (*delete_tensor)(void *tensor);
typedef int32_t (*data_of_tensor)(void *tensor, void **out);
typedef int32_t (*sizes_of_tensor)(void *tensor, int64_t **out);
typedef int32_t (*run_model)(void *container, void **inputs, size_t input_count, void **outputs, size_t output_count, void *stream,
                             void *proxy);

struct torch_functions {
    create_tensor create;
    delete_tensor delete;
    data_of_tensor data;
    sizes_of_tensor sizes;
    run_model run;
};

/* Tensors of floats of one shape: `input_count` that lie at `inputs`, and outputs of rows of `output_floats` that go to `outputs`. */
struct torch_request {
    void *container;
    const int64_t *sizes;
    const int64_t *strides;
    int64_t rank;
    int64_t float_type;
    int64_t input_count;
    void *inputs;
    int64_t output_count;
    int64_t output_floats;
    void *outputs;
};

/* Runs the model `count` times, and copies each output, which has as many rows as it says, to where it belongs; 0 on success. */
int torch_loop(const struct torch_functions *torch, const struct torch_request *request, long count) {
    int failed = 0;
    for (long i = 0; i < count && failed == 0; i++) {
        void *inputs[8], *outputs[8];
        for (int64_t k = 0; k < request->input_count && failed == 0; k++) {
            failed = torch->create(request->inputs, request->rank, request->sizes, request->strides, 0, (int32_t)request->float_type, 0, 0,
                                   &inputs[k]);
        }
        failed |= torch->run(request->container, inputs, request->input_count, outputs, request->output_count, 0, 0);
        for (int64_t k = 0; k < request->output_count && failed == 0; k++) {
            void *data;
            int64_t *sizes;
            failed = torch->data(outputs[k], &data) | torch->sizes(outputs[k], &sizes);
            memcpy(request->outputs, data, sizes[0] * request->output_floats * sizeof(float));
            torch->delete(outputs[k]);
        }
    }
    return failed;
}
