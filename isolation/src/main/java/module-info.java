/** Engines in processes of their own: what crashes there fails its own requests, and is started again. */
module gatun.isolation {
    requires static org.jspecify;
    requires gatun.memory;
    requires gatun.runtime;
    requires gatun.spi;
    requires gatun.workers;
    requires java.logging;
    requires java.management;
    requires org.slf4j;

    exports gatun.isolation to
            gatun.server;
}
