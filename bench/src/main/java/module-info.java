/**
 * The load tool: sends inferences to any server of the v2 protocol or TensorFlow Serving, and measures the responses.
 */
module gatun.bench {
    requires static org.jspecify;
    requires transitive gatun.client;
    requires gatun.memory;
    requires gatun.wire;
    requires com.fasterxml.jackson.core;
    requires HdrHistogram;
    requires transitive info.picocli;
    // Measures what the client itself costs: allocated bytes and processor time.
    requires jdk.management;

    exports gatun.bench;

    // picocli fills the fields of the flag classes.
    opens gatun.bench to
            info.picocli;
}
