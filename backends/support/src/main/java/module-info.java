/** Parts that backends share: completing and checking configurations beside model files, parameters, types, strings. */
module gatun.backend.support {
    requires static org.jspecify;
    requires com.google.protobuf;
    requires transitive gatun.spi;

    exports gatun.backend.support to
            gatun.backend.delay,
            gatun.backend.identity,
            gatun.backend.onnxruntime,
            gatun.backend.tensorflow,
            gatun.backend.torch,
            gatun.backend.trees,
            gatun.isolation;
}
