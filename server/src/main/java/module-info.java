/** The program: command line, logging, start and stop. Nothing depends on it. */
module gatun.server {
    requires static org.jspecify;
    requires gatun.bench;
    requires gatun.bindings;
    requires transitive gatun.client;
    requires gatun.grpc;
    requires gatun.http;
    requires gatun.isolation;
    requires gatun.listener;
    requires gatun.memory;
    requires gatun.protocol;
    requires gatun.runtime;
    requires gatun.stores;
    requires com.google.protobuf;
    requires gatun.v2;
    requires info.picocli;
    requires io.helidon.webserver;
    // Traces for OpenTelemetry: see gatun.server.opentelemetry.
    requires io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires io.opentelemetry.exporter.otlp;
    requires io.opentelemetry.sdk.common;
    requires io.opentelemetry.sdk.trace;
    // Its sender uses that.
    requires java.net.http;
    requires java.logging;
    requires java.management;
    requires jdk.management;
    // Stop signals: see gatun.server.StopSignals.
    requires jdk.unsupported;
    requires org.jline.terminal;
    requires org.slf4j;
    requires org.snakeyaml.engine;

    exports gatun.embedded;

    // Kinds of stores for cached responses are there where their jars are.
    uses gatun.spi.ResponseStoreProvider;

    // Protocols are spoken where their jars are.
    uses gatun.protocol.ProtocolProvider;

    // Errors of all modules call settings by their flags.
    provides gatun.spi.SettingNames with
            gatun.server.commandline.SettingFlags;

    // picocli fills the fields of the commands.
    opens gatun.server.commandline to
            info.picocli;
}
