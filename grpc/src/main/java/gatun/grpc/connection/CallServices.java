// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Grpc;
import java.util.concurrent.ThreadFactory;
import javax.net.ssl.SSLSession;

/**
 * The objects that all calls of a connection share.
 *
 * @param root the context that calls' contexts descend from
 * @param attributes properties of the connection for handlers
 * @param timer cancels calls at their deadlines; runs short tasks only
 * @param threads makes the threads that calls run on
 * @param decompression unpacks compressed messages
 */
record CallServices(
        Context root, Attributes attributes, DeadlineTimer timer, ThreadFactory threads, Decompression decompression) {
    /** The same on a connection that is protected by {@code session}. */
    CallServices secured(SSLSession session) {
        Attributes secured = attributes.toBuilder()
                .set(Grpc.TRANSPORT_ATTR_SSL_SESSION, session)
                .build();
        return new CallServices(root, secured, timer, threads, decompression);
    }
}
