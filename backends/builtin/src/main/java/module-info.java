/** Engines without model files: for trying out transports, queues, decoupled models and sequences. */
module gatun.backend.builtin {
    requires static org.jspecify;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.builtin.AccumulatorBackend,
            gatun.backend.builtin.DelayBackend,
            gatun.backend.builtin.IdentityBackend,
            gatun.backend.builtin.RepeatBackend;
}
