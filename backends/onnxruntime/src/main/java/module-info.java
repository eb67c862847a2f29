/** Runs ONNX models by ONNX Runtime's C API, through Panama. */
module gatun.backend.onnxruntime {
    requires static org.jspecify;
    requires gatun.bindings;
    requires gatun.runtime;
    requires org.slf4j;

    provides gatun.runtime.spi.Backend with
            gatun.backend.onnxruntime.OnnxRuntimeBackend;
}
