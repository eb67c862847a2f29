/** Runs ONNX models by ONNX Runtime's C API, through Panama. */
module gatun.backend.onnxruntime {
    requires static org.jspecify;
    requires gatun.bindings;
    requires gatun.spi;
    requires org.slf4j;

    provides gatun.spi.Backend with
            gatun.backend.onnxruntime.OnnxRuntimeBackend;
}
