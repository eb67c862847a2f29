/** Runs TensorFlow's SavedModels by TensorFlow's C API, through Panama. */
module gatun.backend.tensorflow {
    requires static org.jspecify;
    requires com.google.protobuf;
    requires gatun.bindings;
    requires gatun.spi;
    requires org.slf4j;

    provides gatun.spi.Backend with
            gatun.backend.tensorflow.TensorFlowBackend;
}
