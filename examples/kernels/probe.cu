/* Kernels for tests and measurements: one that moves bytes, one that takes time, one that breaks its device. */
extern "C" __global__ void copy_bytes(const unsigned char *from, unsigned char *to, long count) {
    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        to[i] = from[i];
    }
}

static __device__ long now_nanos() {
    long nanos;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanos));
    return nanos;
}

extern "C" __global__ void spin_nanoseconds(long nanos) {
    long start = now_nanos();
    while (now_nanos() - start < nanos) {
    }
}

/* Writes where nothing is: the last page of all addresses, whatever it is given. */
extern "C" __global__ void fault(int *anything) {
    volatile int *nowhere = (int *)((long)anything | ~0xFFFL);
    *nowhere = 1;
}
