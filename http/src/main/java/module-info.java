/** The HTTP edge: the v2 protocol and the metrics page on Helidon's web server. */
module gatun.http {
    requires static org.jspecify;
    requires transitive gatun.listener;
    requires transitive gatun.runtime;
    requires gatun.tensorflow.serving;
    requires transitive gatun.v1;
    requires transitive io.helidon.webserver;
    requires com.google.protobuf;
    requires com.google.protobuf.util;
    requires io.helidon.common.socket;
    requires io.helidon.common.task;
    requires io.helidon.http;
    requires io.prometheus.metrics.model;
    requires io.prometheus.writer.text;
    requires org.slf4j;

    exports gatun.http;
    // How both are set up is for the server's flags to say.
    exports gatun.http.metrics to
            gatun.server;
    exports gatun.http.tensorflow to
            gatun.server;
}
