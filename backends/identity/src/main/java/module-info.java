/** The engine that answers with what it was asked: for trying out transports and memory without a model. */
module gatun.backend.identity {
    requires static org.jspecify;
    requires gatun.backend.support;
    requires gatun.spi;

    provides gatun.spi.Backend with
            gatun.backend.identity.IdentityBackend;
}
