/** The engine that answers one request many times: for trying out decoupled models. */
module gatun.backend.repeat {
    requires static org.jspecify;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.repeat.RepeatBackend;
}
