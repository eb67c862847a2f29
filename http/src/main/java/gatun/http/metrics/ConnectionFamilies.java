// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.listener.ClientError;
import gatun.listener.OpenConnections;
import gatun.listener.OpenConnections.ConnectionRefusal;
import gatun.listener.WireProtocol;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The families of clients' connections. */
final class ConnectionFamilies {
    private ConnectionFamilies() {}

    /**
     * Writes the connections that are open, by protocol; those that were refused, by the limit that was reached; and
     * those that ended because of their clients, by protocol and by the client's fault.
     */
    static void write(OpenConnections connections, PageWriter page) {
        List<WireProtocol> protocols = List.of(WireProtocol.values());
        page.add(
                Measure.gauge(
                        "gatun_connections",
                        "Number of connections that clients have open, those to the metrics' port not counted",
                        connections::open),
                Rows.of(protocols, ConnectionFamilies::labels));
        page.add(
                Measure.counter(
                        "gatun_connections_refused",
                        "Number of connections that were refused because there were too many",
                        connections::refused),
                Rows.of(
                        List.of(ConnectionRefusal.values()),
                        refusal -> Labels.of("limit", refusal.name().toLowerCase(Locale.ROOT))));
        List<Rows.Row<Long>> errors = new ArrayList<>();
        for (WireProtocol protocol : protocols) {
            for (ClientError error : ClientError.values()) {
                errors.add(new Rows.Row<>(
                        labels(protocol).with("cause", error.label()),
                        connections.errors().count(protocol, error)));
            }
        }
        page.add(
                Measure.counter(
                        "gatun_client_errors",
                        "Number of connections that ended because of what their clients did",
                        Long::doubleValue),
                Rows.of(errors));
    }

    private static Labels labels(WireProtocol protocol) {
        return Labels.of("protocol", protocol.label());
    }
}
