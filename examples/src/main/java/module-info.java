/** Programs that show how a client talks to the server. */
module gatun.examples {
    requires static org.jspecify;
    requires java.desktop;
    requires java.net.http;
    requires com.fasterxml.jackson.databind;
    requires gatun.client;
    requires gatun.memory;
    requires gatun.wire;
    requires info.picocli;

    opens gatun.examples to
            info.picocli;
}
