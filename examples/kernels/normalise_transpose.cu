/*
 * Pictures as a camera gives them, [n, h, w, 3] bytes, to what an image network takes, [n, 3, h, w] floats around zero:
 * both steps in one pass over the memory. One thread for each pixel.
 */
#define GATUN_CONSTANT static __constant__ const
#include "image_statistics.h"

extern "C" __global__ void normalise_transpose(const unsigned char *image, float *out, int n, int h, int w) {
    long pixels = (long)h * w;
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n * pixels) {
        long picture = i / pixels;
        long pixel = i % pixels;
        for (int c = 0; c < CHANNELS; c++) {
            float value = image[i * CHANNELS + c] / 255.0f;
            out[(picture * CHANNELS + c) * pixels + pixel] = (value - image_mean[c]) / image_deviation[c];
        }
    }
}
