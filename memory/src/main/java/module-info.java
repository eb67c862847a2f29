/** Tensors over native memory: datatypes, shapes, pooled buffers, shared regions and their leases, and lanes. */
module gatun.memory {
    requires static org.jspecify;
    requires java.management;
    requires jdk.jfr;
    requires jdk.management;
    requires gatun.bindings;

    exports gatun.memory.buffers;
    exports gatun.memory.cuda;
    exports gatun.memory.lane;
    exports gatun.memory.metrics;
    exports gatun.memory.regions;
    exports gatun.memory.tensor;
    exports gatun.memory.threads;
    exports gatun.memory.tuning;
}
