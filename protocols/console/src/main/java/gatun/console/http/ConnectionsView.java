// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.ServerSurroundings;
import gatun.http.json.JsonWriter;

/** Who is connected. Safe for any thread. */
final class ConnectionsView {
    /** How many connections are shown. */
    private static final int SHOWN = 500;

    private final ServerSurroundings surroundings;

    ConnectionsView(ServerSurroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** Writes them as they are now. */
    void write(JsonWriter text) {
        JsonText json = new JsonText(text);
        ServerSurroundings.ConnectionList list = surroundings.connections(SHOWN);
        json.object().array("connections");
        for (ServerSurroundings.Connection connection : list.connections()) {
            ServerSurroundings.Traffic traffic = connection.traffic();
            json.object()
                    .member("protocol", connection.protocol())
                    .member("peer", connection.peer())
                    .member("sinceMillis", connection.sinceMillis())
                    .member("requests", traffic.requests())
                    .member("inFlight", traffic.inFlight())
                    .member("bytesIn", traffic.bytesIn())
                    .member("bytesOut", traffic.bytesOut())
                    .member("tls", connection.tls())
                    .endObject();
        }
        json.endArray()
                .member("shown", list.connections().size())
                .member("total", list.total())
                .endObject();
    }
}
