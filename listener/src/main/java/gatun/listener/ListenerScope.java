// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import io.helidon.common.context.Context;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.Router;
import io.helidon.webserver.http.DirectHandlers;
import io.helidon.webserver.http.HttpRouting;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The objects that the connections of one listener share.
 *
 * @param config how the listener was set up
 * @param router what requests may be routed to
 * @param executor runs what connections do beside their own threads
 */
record ListenerScope(
        ListenerConfig config,
        Router router,
        Context context,
        MediaContext mediaContext,
        ContentEncodingContext contentEncodingContext,
        DirectHandlers directHandlers,
        ExecutorService executor)
        implements ListenerContext {
    /** The same objects as Helidon would make from {@code config}. */
    static ListenerScope of(ListenerConfig config) {
        Router.Builder router = Router.builder();
        router.addRouting(config.routing().orElseGet(HttpRouting::builder));
        config.routings().forEach(router::addRouting);
        return new ListenerScope(
                config,
                router.build(),
                Context.create(),
                config.mediaContext().orElseGet(MediaContext::create),
                config.contentEncoding().orElseGet(ContentEncodingContext::create),
                config.directHandlers().orElseGet(DirectHandlers::create),
                Executors.newVirtualThreadPerTaskExecutor());
    }
}
