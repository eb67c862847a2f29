/**
 * The interfaces that a backend implements, and an inference as it sees it. A backend needs this module and those that
 * it passes on.
 */
module gatun.spi {
    requires static org.jspecify;
    requires transitive gatun.memory;
    requires transitive gatun.wire;

    exports gatun.spi;

    uses gatun.spi.SettingNames;
}
