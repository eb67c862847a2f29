// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.channels.SocketChannel;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The file descriptors of channels, which the JDK keeps to itself unless it is started with a flag. */
final class ChannelDescriptor {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelDescriptor.class);

    private static final int UNKNOWN = -1;

    /** {@code int SelChImpl.getFDVal()} of a channel; null where it is not accessible. */
    private static final @Nullable MethodHandle GET = find();

    private ChannelDescriptor() {}

    private static @Nullable MethodHandle find() {
        try {
            return MethodHandles.lookup()
                    .findVirtual(Class.forName("sun.nio.ch.SelChImpl"), "getFDVal", MethodType.methodType(int.class))
                    .asType(MethodType.methodType(int.class, SocketChannel.class));
        } catch (ReflectiveOperationException e) {
            LOG.debug("the JVM does not tell the descriptors of channels", e);
            return null;
        }
    }

    /** That of {@code channel}; negative where it is closed, or the JVM does not tell. */
    static int of(SocketChannel channel) {
        if (GET == null || !channel.isOpen()) {
            return UNKNOWN;
        }
        try {
            return (int) GET.invokeExact(channel);
        } catch (Throwable t) {
            throw new AssertionError("asking a channel for its descriptor may not fail", t);
        }
    }
}
