// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelStatistics;
import gatun.runtime.server.InferenceServer;
import gatun.tensorflow.serving.profiling.ProfileWriter;
import gatun.tensorflow.serving.profiling.RateText;
import gatun.tensorflow.serving.profiling.Recording;
import gatun.wire.tensorflow.MonitorRequest;
import gatun.wire.tensorflow.MonitorResponse;
import gatun.wire.tensorflow.ProfileRequest;
import gatun.wire.tensorflow.ProfileResponse;
import gatun.wire.tensorflow.ProfilerServiceGrpc;
import gatun.wire.tensorflow.TerminateRequest;
import gatun.wire.tensorflow.TerminateResponse;
import gatun.wire.tensorflow.profiler.XSpace;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.stub.StreamObserver;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Profiles and rates of requests. The calling thread waits while they are taken, or until the client gives the call up.
 * Nothing is written to the server's disk, whatever folder the client names.
 */
final class ProfilerService extends ProfilerServiceGrpc.ProfilerServiceImplBase {
    /** For how long a profile or the counting of rates may go on. */
    static final long MAX_DURATION_MS = 60_000;

    /** The events of a profile; with at most 22 bytes each, it is within the 4 MiB that clients take by default. */
    static final long MAX_EVENTS = 100_000;

    /** How many clients may wait for rates at a time. */
    static final int MAX_MONITORS = 4;

    /** The heap that a profile may take: for each event its times, and its message. */
    private static final long HEAP_BYTES = 160 * MAX_EVENTS;

    /** How often a waiting call looks whether the server stops. */
    private static final long LOOK_MS = 100;

    private static final int LEVEL_OF_MODELS = 2;

    private final InferenceServer server;
    private final Semaphore monitors = new Semaphore(MAX_MONITORS);

    /** The profile that is being recorded or written; null for none. */
    private final AtomicReference<@Nullable Session> running = new AtomicReference<>();

    /** A profile by the client's name for it; the latch is opened when it is to end before its time. */
    private record Session(String id, CountDownLatch end) {}

    ProfilerService(InferenceServer server) {
        this.server = server;
    }

    @Override
    public void profile(ProfileRequest request, StreamObserver<ProfileResponse> observer) {
        Statuses.answer(observer, () -> profile(request));
    }

    @Override
    public void terminate(TerminateRequest request, StreamObserver<TerminateResponse> observer) {
        Session session = running.get();
        if (session != null && session.id().equals(request.getSessionId())) {
            session.end().countDown();
        }
        observer.onNext(TerminateResponse.getDefaultInstance());
        observer.onCompleted();
    }

    @Override
    public void monitor(MonitorRequest request, StreamObserver<MonitorResponse> observer) {
        Statuses.answer(observer, () -> monitor(request));
    }

    private ProfileResponse profile(ProfileRequest request) {
        long asked = request.getOpts().getDurationMs();
        long durationMs = bounded(asked == 0 ? request.getDurationMs() : asked);
        Session session = new Session(request.getSessionId(), new CountDownLatch(1));
        if (!running.compareAndSet(null, session)) {
            throw busy();
        }
        try {
            return record(request, durationMs, session);
        } finally {
            running.set(null);
        }
    }

    private static GatunException busy() {
        return new GatunException(
                ErrorCode.ALREADY_EXISTS,
                "Another profiling session active. Try again when it has ended, after " + MAX_DURATION_MS
                        + " ms at the latest.");
    }

    private ProfileResponse record(ProfileRequest request, long durationMs, Session session) {
        Hold heap = server.heap().reserve(HEAP_BYTES);
        try {
            long wanted = request.getMaxEvents();
            Recording recording = new Recording(wanted > 0 && wanted < MAX_EVENTS ? wanted : MAX_EVENTS);
            long startNanos = System.nanoTime();
            long startEpochNanos = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
            if (!server.tracing().observe(recording)) {
                throw busy();
            }
            try {
                waitFor(durationMs, session.end());
            } finally {
                server.tracing().endObserving();
            }
            return response(request, recording, new ProfileWriter(recording, startNanos, startEpochNanos));
        } finally {
            heap.close();
        }
    }

    private static ProfileResponse response(ProfileRequest request, Recording recording, ProfileWriter writer) {
        if (recording.isEmpty()) {
            return ProfileResponse.newBuilder().setEmptyTrace(true).build();
        }
        XSpace space = writer.write(request.getHostName());
        ProfileResponse.Builder response = ProfileResponse.newBuilder();
        if (request.getEmitXspace()) {
            response.setXspace(space);
        } else {
            response.addToolDataBuilder().setName("xplane.pb").setData(space.toByteString());
        }
        return response.build();
    }

    private MonitorResponse monitor(MonitorRequest request) {
        long durationMs = bounded(request.getDurationMs());
        if (durationMs == 0) {
            throw GatunException.invalidArgument("duration_ms is 0, but rates need a time to count in; send 1 or more");
        }
        if (!monitors.tryAcquire()) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    MAX_MONITORS + " clients wait for rates already, no more are allowed; try again later");
        }
        try {
            List<ModelStatistics> before = server.statistics();
            long startNanos = System.nanoTime();
            waitFor(durationMs, new CountDownLatch(1));
            double seconds = (System.nanoTime() - startNanos) / 1e9;
            String text = RateText.of(
                    before,
                    server.statistics(),
                    seconds,
                    request.getMonitoringLevel() >= LEVEL_OF_MODELS,
                    request.getTimestamp() ? Optional.of(LocalTime.now(ZoneId.systemDefault())) : Optional.empty());
            return MonitorResponse.newBuilder().setData(text).build();
        } finally {
            monitors.release();
        }
    }

    /** A duration as it came, if it is allowed; a negative one is a very long one, as the field has no sign. */
    private static long bounded(long durationMs) {
        if (Long.compareUnsigned(durationMs, MAX_DURATION_MS) > 0) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "duration_ms is " + Long.toUnsignedString(durationMs) + ", more than the limit of "
                            + MAX_DURATION_MS + "; ask for several shorter ones");
        }
        return durationMs;
    }

    /** Waits for a while, or until {@code end} opens or the server stops. Throws when the client gave the call up. */
    private void waitFor(long durationMs, CountDownLatch end) {
        Context call = Context.current();
        Context.CancellationListener givenUp = cancelled -> end.countDown();
        call.addListener(givenUp, Runnable::run);
        try {
            long endNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(durationMs);
            long left = endNanos - System.nanoTime();
            while (left > 0 && !server.exiting() && end.getCount() > 0) {
                boolean ignored =
                        end.await(Math.min(left, TimeUnit.MILLISECONDS.toNanos(LOOK_MS)), TimeUnit.NANOSECONDS);
                left = endNanos - System.nanoTime();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.CANCELLED.withDescription("the server stops").asRuntimeException();
        } finally {
            call.removeListener(givenUp);
        }
        if (call.isCancelled()) {
            throw Status.CANCELLED
                    .withDescription("the client has given the call up")
                    .asRuntimeException();
        }
    }
}
