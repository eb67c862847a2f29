package gatun.grpc.connection;

import io.grpc.Attributes;
import io.grpc.Context;
import java.util.concurrent.ThreadFactory;

/**
 * What all calls of a connection use.
 *
 * @param root the context that calls' contexts descend from
 * @param attributes what handlers may ask about the connection
 * @param timer cancels calls at their deadlines; runs short tasks only
 * @param threads makes the threads that calls run on
 * @param decompression unpacks compressed messages
 */
record CallServices(
        Context root, Attributes attributes, DeadlineTimer timer, ThreadFactory threads, Decompression decompression) {}
