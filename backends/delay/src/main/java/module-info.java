/** The engine that takes its time: for trying out queues, deadlines and cancellation without a model. */
module gatun.backend.delay {
    requires static org.jspecify;
    requires gatun.backend.support;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.delay.DelayBackend;
}
