/** Runs CUDA kernels that a model's configuration names, by the CUDA driver API, through Panama. */
module gatun.backend.cuda {
    requires static org.jspecify;
    requires gatun.bindings;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.cuda.CudaBackend;
}
