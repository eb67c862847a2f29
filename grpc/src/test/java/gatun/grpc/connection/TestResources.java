// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.ManagedChannel;
import io.grpc.ServerServiceDefinition;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Servers and clients of one test, closed after it in reverse. */
final class TestResources implements AfterEachCallback {
    private final List<AutoCloseable> resources = new ArrayList<>();

    /** Takes over {@code resource} and returns it. */
    <T extends AutoCloseable> T add(T resource) {
        resources.add(resource);
        return resource;
    }

    /** A server with the settings that servers usually have. */
    TestServer serve(ServerServiceDefinition service) {
        return add(TestServer.start(service));
    }

    /** A server with other settings. */
    TestServer serve(ConnectionSettings settings, ServerServiceDefinition service) {
        return add(TestServer.start(settings, service));
    }

    /** A grpc-java client of {@code server}. */
    ManagedChannel channel(TestServer server) {
        ManagedChannel channel = server.channel();
        resources.add(channel::shutdownNow);
        return channel;
    }

    /** A client of {@code server} that speaks in frames. */
    RawClient connect(TestServer server) throws IOException {
        return add(RawClient.connect(server));
    }

    @Override
    public void afterEach(ExtensionContext context) throws Exception {
        for (AutoCloseable each : resources.reversed()) {
            each.close();
        }
    }
}
