// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.bindings.OnnxRuntime;
import gatun.http.HttpListener;
import gatun.listener.HelidonServices;
import gatun.runtime.server.GatunServer;

/**
 * Makes beside a start what each start needs and what needs nothing of it, so that a second core has work before the
 * models are known: what reads configurations, the functions of the engine that
 * most models have, and the classes of the listeners. Who needs them sooner waits for them,
 * or makes them.
 */
final class Preparation {
    private Preparation() {}

    /** Begins it on a thread of its own, which ends by itself. */
    static void begin() {
        Thread.ofPlatform().daemon().name("preparation").start(() -> {
            GatunServer.prepare();
            OnnxRuntime.prepare();
            HelidonServices.findNone();
            HttpListener.prepare();
        });
    }
}
