// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import gatun.memory.threads.FailureLog;
import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.Metadata;
import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLSession;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What a connection's calls share; {@code root}, of which calls' contexts descend, tells where the client is. */
public record CallServices(
        Context root,
        Attributes attributes,
        HostCheck hosts,
        DeadlineTimer timer,
        RunPlacement placement,
        ThreadFactory threads,
        Decompression decompression,
        AccessLog accessLog) {
    private static final Metadata.Key<String> TRACEPARENT =
            Metadata.Key.of("traceparent", Metadata.ASCII_STRING_MARSHALLER);

    /** The entry of a call in the access log; null where there is no such log. */
    @Nullable
    public AccessEntry accessEntry(RequestHead head) {
        if (!accessLog.isOn()) {
            return null;
        }
        String procedure = head.path().startsWith("/") ? head.path().substring(1) : head.path();
        AccessEntry entry =
                AccessEntry.begin(accessLog, "grpc", attributes.get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR), procedure);
        String parent = head.metadata().get(TRACEPARENT);
        if (parent != null) {
            entry.traceParent(parent);
        }
        return entry;
    }

    /** The context that the call's own descends from. */
    public Context root(RequestHead head) {
        return head.route().forwarded() ? CallLocation.in(root, PeerLocation.OTHER_MACHINE) : root;
    }

    /** The same on a connection that is protected by {@code session}. */
    public CallServices secured(SSLSession session) {
        Attributes secured = attributes.toBuilder()
                .set(Grpc.TRANSPORT_ATTR_SSL_SESSION, session)
                .build();
        return new CallServices(root, secured, hosts, timer, placement, threads, decompression, accessLog);
    }

    /** The methods that a listener serves, by path. Immutable. */
    public static final class ServiceTable {
        private final Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();
        private final List<ServerServiceDefinition> services;

        /** The methods of {@code services}. Throws {@link IllegalArgumentException} when two have the same name. */
        public ServiceTable(List<ServerServiceDefinition> services) {
            this.services = List.copyOf(services);
            for (ServerServiceDefinition service : services) {
                for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
                    String path = "/" + method.getMethodDescriptor().getFullMethodName();
                    if (methods.put(path, method) != null) {
                        throw new IllegalArgumentException("two services serve " + path);
                    }
                }
            }
        }

        Optional<ServerMethodDefinition<?, ?>> find(String path) {
            return Optional.ofNullable(methods.get(path));
        }

        /** The services that this was made from. */
        public List<ServerServiceDefinition> services() {
            return services;
        }
    }

    /** The location of the client of the call at hand, for handlers, which learn it from the call's context. */
    public static final class CallLocation {
        /** Outside of a call nobody is known to be near. */
        private static final Context.Key<PeerLocation> KEY =
                Context.keyWithDefault("gatun-peer-location", PeerLocation.OTHER_MACHINE);

        private CallLocation() {}

        /** The location of the client whose call this thread runs. */
        public static PeerLocation current() {
            return KEY.get();
        }

        public static Context in(Context parent, PeerLocation location) {
            return parent.withValue(KEY, location);
        }
    }

    /** Checks that calls are for this server, where a browser here could send them. For the reading thread. */
    public static final class HostCheck {
        private final HostNames names;
        private final boolean checks;

        /** The host of the last call, which most calls repeat; empty before the first. */
        private String accepted = "";

        /** Checks the calls of the client at {@code remote}, which is at {@code location}. */
        public HostCheck(HostNames names, SocketAddress remote, PeerLocation location) {
            this.names = names;
            this.checks = names.mustCheck(remote, location);
        }

        /** The host that a call is for, where it is none of this server's; a call that names no host is for any. */
        Optional<String> foreignHost(RequestHead head) {
            if (!checks) {
                return Optional.empty();
            }
            for (String host : head.route().hosts()) {
                boolean repeated = !accepted.isEmpty() && host.equals(accepted);
                if (!repeated && !names.accept(host)) {
                    return Optional.of(host);
                }
                accepted = host;
            }
            return Optional.empty();
        }
    }

    /** The one thread that looks after the deadlines of a listener's calls and connections. Safe for any thread. */
    public static final class DeadlineTimer implements AutoCloseable {
        private static final Logger LOG = LoggerFactory.getLogger(DeadlineTimer.class);

        private final ScheduledThreadPoolExecutor executor;

        public DeadlineTimer() {
            executor = new ScheduledThreadPoolExecutor(
                    1, Thread.ofPlatform().name("grpc-deadlines").daemon(true).factory());
            // Nearly all deadlines are never reached: cancelled tasks are dropped at once.
            executor.setRemoveOnCancelPolicy(true);
        }

        /** The executor on which io.grpc's contexts schedule their deadlines. */
        ScheduledExecutorService executor() {
            return executor;
        }

        /** Runs a short task that does not wait, after a time; at once when the timer is closed already. */
        public void runAfter(Duration delay, Runnable task) {
            try {
                Future<?> scheduled = executor.schedule(() -> run(task), delay.toMillis(), TimeUnit.MILLISECONDS);
                assert !scheduled.isCancelled() : "nobody but us knows the task";
            } catch (RejectedExecutionException e) {
                LOG.trace("the timer is closed", e);
                task.run();
            }
        }

        /** The same for a task that the returned handle calls off. Never runs it when the timer is closed. */
        public Runnable runUnlessCalledOff(Duration delay, Runnable task) {
            try {
                Future<?> scheduled = executor.schedule(() -> run(task), delay.toNanos(), TimeUnit.NANOSECONDS);
                return () -> scheduled.cancel(false);
            } catch (RejectedExecutionException e) {
                LOG.trace("the timer is closed", e);
                return () -> {};
            }
        }

        /** The executor keeps failures to itself, and its thread. */
        private static void run(Runnable task) {
            try {
                task.run();
            } catch (RuntimeException | Error e) {
                FailureLog.write(e, failure -> LOG.error("What a deadline began has failed", failure));
            }
        }

        /** Runs a short task that does not wait, again and again until the timer is closed. */
        public void repeat(Duration period, Runnable task) {
            Future<?> scheduled = executor.scheduleWithFixedDelay(
                    () -> run(task), period.toNanos(), period.toNanos(), TimeUnit.NANOSECONDS);
            assert !scheduled.isCancelled() : "nobody but us knows the task";
        }

        boolean isClosed() {
            return executor.isShutdown();
        }

        /** Forgets all deadlines. */
        @Override
        public void close() {
            executor.shutdownNow();
        }
    }
}
