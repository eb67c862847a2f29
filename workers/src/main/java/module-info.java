/** Worker processes: started, watched and fed by a backend, so that what crashes there is only they. */
module gatun.workers {
    requires static org.jspecify;
    requires jdk.jfr;
    requires org.slf4j;
    requires gatun.bindings;
    requires transitive gatun.memory;
    requires transitive gatun.spi;

    exports gatun.workers to
            gatun.backend.python,
            gatun.isolation;
}
