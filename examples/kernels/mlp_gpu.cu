/*
 * A small network, 4-16-16-3 with ReLU after the hidden layers: three kernels in a row. Each has one thread for each row
 * of the batch and neuron of its layer.
 */
#define GATUN_CONSTANT static __constant__ const
#include "mlp_weights.h"

template <int INPUTS, int NEURONS, bool RELU>
__device__ void layer(const float *in, float *out, int rows, const float *weights, const float *bias) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * NEURONS) {
        int row = i / NEURONS;
        int neuron = i % NEURONS;
        float sum = bias[neuron];
        for (int k = 0; k < INPUTS; k++) {
            sum += in[row * INPUTS + k] * weights[neuron * INPUTS + k];
        }
        out[i] = RELU && sum < 0 ? 0 : sum;
    }
}

extern "C" __global__ void mlp_hidden1(const float *x, float *h1, int rows) {
    layer<MLP_INPUTS, MLP_HIDDEN, true>(x, h1, rows, mlp_weights1, mlp_bias1);
}

extern "C" __global__ void mlp_hidden2(const float *h1, float *h2, int rows) {
    layer<MLP_HIDDEN, MLP_HIDDEN, true>(h1, h2, rows, mlp_weights2, mlp_bias2);
}

extern "C" __global__ void mlp_output(const float *h2, float *y, int rows) {
    layer<MLP_HIDDEN, MLP_OUTPUTS, false>(h2, y, rows, mlp_weights3, mlp_bias3);
}
