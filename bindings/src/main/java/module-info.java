/** Native libraries through Panama: generated bindings and the thin classes in front of them. */
module gatun.bindings {
    requires static org.jspecify;

    exports gatun.bindings to
            gatun.memory,
            gatun.server,
            gatun.workers,
            gatun.backend.onnxruntime,
            gatun.backend.tensorflow,
            gatun.backend.torch,
            gatun.backend.trees;
    exports gatun.bindings.sockets to
            gatun.http,
            gatun.listener;
    // A backend drives its engine's whole interface: a front class for each function would only repeat it.
    exports gatun.bindings.cuda to
            gatun.memory,
            gatun.backend.cuda;
    exports gatun.bindings.onnxruntime to
            gatun.backend.onnxruntime;
    exports gatun.bindings.tensorflow to
            gatun.backend.tensorflow;
    exports gatun.bindings.torch to
            gatun.backend.torch;
    exports gatun.bindings.xgboost to
            gatun.backend.trees;
    exports gatun.bindings.lightgbm to
            gatun.backend.trees;
}
