/** The engine that adds up what a sequence of requests brings: for trying out sequence batching. */
module gatun.backend.sequence {
    requires static org.jspecify;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.sequence.AccumulatorBackend;
}
