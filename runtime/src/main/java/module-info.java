/** Model repository, configuration, schedulers, statistics and the Backend SPI; every protocol meets here. */
module gatun.runtime {
    requires static org.jspecify;
    requires transitive gatun.memory;
    requires transitive gatun.protocol;
    requires java.management;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires com.google.gson;
    requires org.slf4j;

    exports gatun.runtime;
    exports gatun.runtime.access;
    exports gatun.runtime.check;
    exports gatun.runtime.limits;
    exports gatun.runtime.logging;
    exports gatun.runtime.spi;
    exports gatun.runtime.tracing;

    uses gatun.runtime.spi.Backend;
}
