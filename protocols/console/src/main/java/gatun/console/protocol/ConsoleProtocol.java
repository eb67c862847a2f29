// SPDX-License-Identifier: Apache-2.0
package gatun.console.protocol;

import gatun.console.http.ConsoleRoutes;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.protocol.ClientRegions;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.server.InferenceServer;

/** One server's console: a page, its API, and a thread that samples. Closed before the listeners. */
public final class ConsoleProtocol implements Protocol {
    private final ConsoleRoutes routes;
    private final boolean shared;

    /** The console of {@code server}, on the ports of HTTP if {@code shared}. */
    public ConsoleProtocol(
            InferenceServer server, ServerSurroundings surroundings, ProtocolSettings settings, boolean shared) {
        this.shared = shared;
        this.routes = new ConsoleRoutes(
                server,
                surroundings,
                new ClientRegions(server.regions(), settings.clientMemory()),
                settings.http().access());
    }

    @Override
    public RouteTable table() {
        return routes.table();
    }

    @Override
    public Routes http() {
        return routes;
    }

    @Override
    public boolean shared() {
        return shared;
    }

    /** Ends the streams of events, soon; no more are begun. */
    @Override
    public void drain() {
        routes.endViewers();
    }

    /** Ends the streams of events, those too whose clients do not read, and looks at the server no more. */
    @Override
    public void close() {
        routes.close();
    }
}
