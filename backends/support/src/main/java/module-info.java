/** Parts that backends share whose engines read model files: completing and checking configurations, types, strings. */
module gatun.backend.support {
    requires static org.jspecify;
    requires com.google.protobuf;
    requires transitive gatun.spi;

    exports gatun.backend.support to
            gatun.backend.onnxruntime,
            gatun.backend.tensorflow;
}
