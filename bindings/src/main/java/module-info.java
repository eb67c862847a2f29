/** Native libraries through Panama: generated bindings and the thin classes in front of them. */
module gatun.bindings {
    requires static org.jspecify;

    exports gatun.bindings to
            gatun.memory,
            gatun.backend.onnxruntime,
            gatun.jmh;
}
