// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.http.HttpListener;
import gatun.listener.HelidonServices;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.spi.Backend;
import gatun.spi.discovery.InstalledBackends;
import java.util.Optional;

/** Loads classes on a second core while the server starts. Code that needs one earlier waits for it, or loads it. */
final class Preparation {
    private Preparation() {}

    /** Begins it on threads of its own, which end by themselves. */
    static void begin() {
        run(() -> InstalledBackends.find(Optional.empty()).services().forEach(Backend::prepare));
        run(() -> {
            ModelConfiguration.prepare();
            HelidonServices.findNone();
            HttpListener.prepare();
        });
    }

    /** Prepares for requests on a thread of its own, which ends by itself. To be called when the server is ready. */
    static void forRequests() {
        run(HttpListener::prepareConnections);
    }

    private static void run(Runnable work) {
        Thread.ofPlatform().daemon().name("preparation").start(work);
    }
}
