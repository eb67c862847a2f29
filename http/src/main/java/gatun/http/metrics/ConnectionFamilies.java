// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.metrics.MetricsPage.Point;
import gatun.listener.ClientError;
import gatun.listener.ClientErrors;
import gatun.listener.ConnectionRefusal;
import gatun.listener.OpenConnections;
import gatun.listener.WireProtocol;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The families of clients' connections. */
final class ConnectionFamilies {
    private ConnectionFamilies() {}

    /** The connections that are open, by protocol. */
    static GaugeSnapshot open(OpenConnections open) {
        GaugeSnapshot.Builder gauge = GaugeSnapshot.builder()
                .name("gatun_connections")
                .help("Number of connections that clients have open, those to the metrics' port not counted");
        for (WireProtocol protocol : WireProtocol.values()) {
            gauge.dataPoint(GaugeSnapshot.GaugeDataPointSnapshot.builder()
                    .labels(Labels.of("protocol", protocol.label()))
                    .value((double) open.open(protocol))
                    .build());
        }
        return gauge.build();
    }

    /** The connections that ended because of their clients, by protocol and by the client's fault. */
    static List<Point> errors(ClientErrors errors) {
        List<Point> points = new ArrayList<>();
        for (WireProtocol protocol : WireProtocol.values()) {
            for (ClientError error : ClientError.values()) {
                points.add(new Point(Labels.of("protocol", protocol.label(), "cause", error.label()), (double)
                        errors.count(protocol, error)));
            }
        }
        return points;
    }

    /** The connections that were refused, by the limit that was reached. */
    static List<Point> refused(OpenConnections open) {
        List<Point> points = new ArrayList<>();
        for (ConnectionRefusal refusal : ConnectionRefusal.values()) {
            points.add(new Point(
                    Labels.of("limit", refusal.name().toLowerCase(Locale.ROOT)), (double) open.refused(refusal)));
        }
        return points;
    }
}
