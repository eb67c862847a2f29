/**
 * The interfaces that a backend implements, and an inference as it sees it. A backend needs this module and those that
 * it passes on.
 */
module gatun.spi {
    requires static org.jspecify;
    requires transitive gatun.memory;
    requires transitive gatun.wire;
    requires com.google.protobuf;
    requires org.slf4j;

    exports gatun.spi;
    exports gatun.spi.model;
    exports gatun.spi.discovery to
            gatun.isolation,
            gatun.runtime,
            gatun.server;

    uses gatun.spi.Backend;
    uses gatun.spi.SettingNames;
}
