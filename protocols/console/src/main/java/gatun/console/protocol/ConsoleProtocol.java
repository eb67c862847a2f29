// SPDX-License-Identifier: Apache-2.0
package gatun.console.protocol;

import gatun.console.http.ConsoleRoutes;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolSettings;

/** The console of one server: a page for people, and the API under it. */
public final class ConsoleProtocol implements Protocol {
    private final ConsoleRoutes routes;

    /** The console, with the access that {@code settings} say. */
    public ConsoleProtocol(ProtocolSettings settings) {
        this.routes = new ConsoleRoutes(settings.http().access());
    }

    @Override
    public RouteTable table() {
        return routes.table();
    }

    @Override
    public Routes http() {
        return routes;
    }
}
