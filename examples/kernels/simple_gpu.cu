/* Sum and difference of two rows of integers: the model `simple` on a GPU. One thread for each element. */
extern "C" __global__ void vector_add_sub(const int *a, const int *b, int *sum, int *difference, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        int left = a[i];
        int right = b[i];
        sum[i] = left + right;
        difference[i] = left - right;
    }
}
