// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.ServerSurroundings;
import gatun.http.json.JsonWriter;
import gatun.listener.ConnectionUse;

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
            ConnectionUse use = connection.use();
            json.object()
                    .member("protocol", connection.protocol())
                    .member("peer", use.peer())
                    .member("sinceMillis", use.sinceMillis())
                    .member("requests", use.requests())
                    .member("inFlight", use.inFlight())
                    .member("bytesIn", use.bytesIn())
                    .member("bytesOut", use.bytesOut())
                    .member("tls", use.tls())
                    .endObject();
        }
        json.endArray()
                .member("shown", list.connections().size())
                .member("total", list.total())
                .endObject();
    }
}
