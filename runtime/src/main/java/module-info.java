/** Model repository, configuration, schedulers and statistics; every protocol and every backend meet here. */
module gatun.runtime {
    requires static org.jspecify;
    requires jdk.jfr;
    requires transitive gatun.spi;
    // The metrics of the process and of the virtual machine.
    requires java.management;
    requires jdk.management;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires com.google.gson;
    requires org.slf4j;

    exports gatun.runtime;
    exports gatun.runtime.access;
    exports gatun.runtime.check;
    exports gatun.runtime.configuration to
            gatun.server;
    exports gatun.runtime.limits;
    exports gatun.runtime.repository to
            gatun.server;
    exports gatun.runtime.logging;
    exports gatun.runtime.metrics;
    exports gatun.runtime.placement;
    exports gatun.runtime.server;
    exports gatun.runtime.tracing;
}
