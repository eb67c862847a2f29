// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.fuzz.FuzzInput;
import gatun.fuzz.LoggedFailures;
import gatun.grpc.calls.CallAdmission;
import gatun.grpc.calls.CallServices;
import gatun.grpc.calls.CallServices.DeadlineTimer;
import gatun.grpc.calls.CallServices.HostCheck;
import gatun.grpc.calls.CallServices.ServiceTable;
import gatun.grpc.calls.Decompression;
import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.Http2;
import gatun.listener.ClientError.ClientErrorException;
import gatun.listener.IoBuffers;
import gatun.memory.buffers.BufferPool;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.runtime.access.HostNames;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.WorkBudgets;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.placement.RunPlacement;
import io.grpc.Attributes;
import io.grpc.Context;
import io.grpc.Grpc;
import io.helidon.common.concurrency.limits.FixedLimit;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Whole connections: the first byte tells how the client behaves, the others are sent after its greeting. Whatever that
 * is, the connection ends when the client has left, with everything given back; nothing fails except the client's own
 * calls, the bytes waiting to be written are bounded, and the written bytes are frames.
 */
public final class ConnectionFuzz {
    /** Flags of the first byte: bytes come one by one, nothing is read, nobody greets, all comes again and again. */
    private static final int BYTE_BY_BYTE = 1;

    private static final int READS_NOTHING = 2;
    private static final int GREETS_NOT = 4;
    private static final int REPEATS = 8;

    private static final int REPETITIONS = 16;
    private static final int MAX_CALLS = 16;

    /** Responses that may wait, with further frames for each call and the connection itself. */
    private static final int WAITING_LIMIT = 256 + 4 * (MAX_CALLS + 1);

    private static final ConnectionSettings SETTINGS =
            new ConnectionSettings(64 << 10, MAX_CALLS, 8192, 8192, 1 << 16, 1 << 14, impatient());
    private static final BufferPool POOL = new BufferPool(16 << 20);
    private static final CallAdmission ADMISSION =
            new CallAdmission(new ServiceTable(List.of(CountingService.definition())));
    private static final ConnectionBuffers BUFFERS = new ConnectionBuffers(new IoBuffers());
    private static final DeadlineTimer TIMER = new DeadlineTimer();
    private static final InetSocketAddress ADDRESS = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
    private static final Attributes PEER = Attributes.newBuilder()
            .set(Grpc.TRANSPORT_ATTR_REMOTE_ADDR, ADDRESS)
            .set(GrpcConnectionSelector.SENDER, ClientQuotaKey.at(ADDRESS))
            .build();
    private static final HostCheck HOSTS = new HostCheck(new HostNames(Set.of()), ADDRESS, PeerLocation.THIS_MACHINE);
    private static final LoggedFailures LOGGED = LoggedFailures.of("gatun");

    private ConnectionFuzz() {}

    /** Serves a client that sends the input. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length > 0) {
            FuzzInput.run(input, () -> serve(input));
        }
    }

    private static void serve(byte[] input) {
        Calls calls = new Calls();
        CallServices services = new CallServices(
                Context.ROOT,
                PEER,
                HOSTS,
                TIMER,
                RunPlacement.of(true),
                calls,
                new Decompression(POOL, SETTINGS.maxMessageSize()),
                AccessLog.OFF);
        Set<GrpcConnection> open = ConcurrentHashMap.newKeySet();
        AtomicReference<GrpcConnection> served = new AtomicReference<>();
        boolean reads = (input[0] & READS_NOTHING) == 0;
        PlayedClient client = new PlayedClient(
                sent(input),
                (input[0] & BYTE_BY_BYTE) != 0 ? 1 : Integer.MAX_VALUE,
                reads,
                () -> requireBounded(served));
        GrpcConnection connection = new GrpcConnection(
                SETTINGS,
                POOL,
                ADMISSION,
                services,
                BUFFERS,
                client,
                new WorkBudgets(System::nanoTime).of(ADDRESS),
                open);
        served.set(connection);
        try {
            connection.handle(FixedLimit.create());
        } catch (ClientErrorException e) {
            FuzzInput.require(!String.valueOf(e.getMessage()).isEmpty(), "an end that is the client's fault says why");
        }
        calls.join();
        client.requireFrames();
        FuzzInput.require(open.isEmpty(), "a connection that is over is among the open ones");
        FuzzInput.requireEqual(POOL.usedBytes(), 0L, "bytes that are lent");
        LOGGED.requireNone();
    }

    private static void requireBounded(AtomicReference<GrpcConnection> served) {
        int waiting = Objects.requireNonNull(served.get()).writer().waiting();
        FuzzInput.require(waiting <= WAITING_LIMIT, waiting + " answers wait to be written");
    }

    private static byte[] sent(byte[] input) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        if ((input[0] & GREETS_NOT) == 0) {
            bytes.writeBytes(Http2.preface());
            bytes.writeBytes(new byte[] {0, 0, 0, Http2.SETTINGS, 0, 0, 0, 0, 0});
        }
        int times = (input[0] & REPEATS) != 0 ? REPETITIONS : 1;
        for (int i = 0; i < times; i++) {
            bytes.write(input, 1, input.length - 1);
        }
        return bytes.toByteArray();
    }

    /** Gives up soon on clients that read nothing. */
    private static KeepaliveSettings impatient() {
        KeepaliveSettings standard = KeepaliveSettings.standard();
        return new KeepaliveSettings(
                new KeepaliveSettings.Pings(
                        standard.pings().time(),
                        Duration.ofMillis(10),
                        standard.pings().withoutData()),
                new KeepaliveSettings.ClientPings(standard.clientPings().leastInterval(), 0),
                standard.withoutCalls(),
                KeepaliveSettings.Age.ANY,
                standard.patience());
    }

    /** The threads of one connection's calls. */
    private static final class Calls implements ThreadFactory {
        private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();
        private final AtomicReference<Throwable> failure = new AtomicReference<>();

        @Override
        public Thread newThread(Runnable task) {
            Thread thread = Thread.ofVirtual()
                    .uncaughtExceptionHandler((failed, t) -> failure.compareAndSet(null, t))
                    .unstarted(task);
            threads.add(thread);
            return thread;
        }

        /** Waits until all have ended. */
        void join() {
            try {
                for (Thread thread = threads.poll(); thread != null; thread = threads.poll()) {
                    thread.join();
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (failure.get() != null) {
                throw new AssertionError("a call's thread failed", failure.get());
            }
        }
    }
}
