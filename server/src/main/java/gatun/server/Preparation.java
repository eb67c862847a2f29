// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.http.HttpListener;
import gatun.listener.HelidonServices;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.spi.Backend;
import gatun.spi.discovery.InstalledBackends;
import java.util.Optional;

/**
 * Makes beside a start what each start needs and what needs nothing of it, so that a second core has work before the
 * models are known: what reads configurations, what engines open early, and the classes of the listeners. What the
 * first request needs and no start does is made once the
 * server is ready. Who needs any of it sooner waits for it, or makes it.
 */
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
