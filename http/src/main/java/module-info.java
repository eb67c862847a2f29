// SPDX-License-Identifier: Apache-2.0
/**
 * The HTTP listener on Helidon's web server: connections, routes, JSON, and the metrics page. Knows no protocol; a
 * protocol is a table of routes ({@code gatun.http.routes}).
 */
module gatun.http {
    requires static org.jspecify;
    requires gatun.bindings;
    requires transitive gatun.listener;
    requires transitive gatun.runtime;
    requires transitive io.helidon.webserver;
    requires io.helidon.common.socket;
    requires io.helidon.common.task;
    requires transitive io.helidon.http;
    requires org.slf4j;

    exports gatun.http;
    exports gatun.http.connection;
    exports gatun.http.json;
    exports gatun.http.openapi;
    exports gatun.http.routes;
    exports gatun.http.metrics to
            gatun.server;
}
