// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import static gatun.server.embedded.EmbeddedErrors.translated;

import gatun.client.ClientException;
import gatun.client.CudaRegion;
import gatun.client.DeadlineException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.RegionControl;
import gatun.client.ServerControl;
import gatun.client.ServerMetadata;
import gatun.client.StreamReceiver;
import gatun.client.SystemRegion;
import gatun.client.calls.AsyncCall;
import gatun.memory.regions.CudaRegionStatus;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SystemRegionStatus;
import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.runtime.server.InferenceServer;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** The client of a server in its own process. Safe for any thread. */
public final class EmbeddedClient implements GatunClient {
    private static final String ADDRESS = "embedded";

    private final InferenceServer server;
    private final EmbeddedRequests requests;
    private final EmbeddedModels models;
    private final EmbeddedRegions regions;
    private final ServerControl control = new Control();
    private final ScheduledThreadPoolExecutor deadlines;
    private final Runnable onClose;
    private volatile boolean ended;

    /** Borrows {@code server}. {@code onClose} runs when this client is closed. */
    public EmbeddedClient(InferenceServer server, Runnable onClose) {
        this.server = server;
        this.onClose = onClose;
        this.requests = new EmbeddedRequests(server);
        this.models = new EmbeddedModels(server, this::requireOpen);
        this.regions = new EmbeddedRegions(server, this::requireOpen);
        this.deadlines = new ScheduledThreadPoolExecutor(
                1, Thread.ofPlatform().name("embedded-deadlines").daemon().factory());
        this.deadlines.setRemoveOnCancelPolicy(true);
    }

    @Override
    public InferResponse infer(InferRequest asked) {
        requireOpen();
        return answer(asked, begin(asked, true));
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest asked) {
        requireOpen();
        InferenceRequest request;
        try {
            request = begin(asked, true);
        } catch (ClientException e) {
            return CompletableFuture.failedFuture(e);
        }
        return AsyncCall.start(() -> answer(asked, request), "embedded-infer", thread -> request.cancellation()
                .cancel());
    }

    @Override
    public InferStream stream(StreamReceiver receiver) {
        requireOpen();
        return new EmbeddedStream(server, this::begin, receiver);
    }

    @Override
    public ServerControl server() {
        return control;
    }

    @Override
    public ModelControl models() {
        return models;
    }

    @Override
    public RegionControl regions() {
        return regions;
    }

    @Override
    public String address() {
        return ADDRESS;
    }

    @Override
    public void close() {
        onClose.run();
    }

    /** Refuses every call from now on; the server ends those that are running. */
    public void end() {
        ended = true;
        deadlines.shutdownNow();
    }

    private void requireOpen() {
        if (ended) {
            throw new IllegalStateException("the embedded server was closed: open another for more calls");
        }
    }

    private InferenceRequest begin(InferRequest asked, boolean lent) {
        try {
            return requests.request(asked, lent);
        } catch (GatunException e) {
            throw EmbeddedErrors.of(e);
        }
    }

    private InferResponse answer(InferRequest asked, InferenceRequest request) {
        Optional<Duration> deadline = asked.deadline();
        if (deadline.isEmpty()) {
            return answer(request);
        }
        AtomicBoolean overdue = new AtomicBoolean();
        ScheduledFuture<?> alarm = deadlines.schedule(
                () -> {
                    overdue.set(true);
                    request.cancellation().cancel();
                },
                deadline.get().toNanos(),
                TimeUnit.NANOSECONDS);
        try {
            return answer(request);
        } catch (ClientException e) {
            if (overdue.get()) {
                throw new DeadlineException("the request to model '" + asked.model()
                        + "' took longer than its deadline of " + deadline.get().toMillis() + " ms, and was given up");
            }
            throw e;
        } finally {
            alarm.cancel(false);
        }
    }

    private InferResponse answer(InferenceRequest request) {
        try (EmbeddedEntry entry = EmbeddedEntry.begin(server.accessLog(), "infer")) {
            try {
                InferResponse response = EmbeddedResponses.of(server.infer(request));
                entry.answered();
                return response;
            } catch (GatunException e) {
                entry.failed(e.code());
                throw EmbeddedErrors.of(e);
            }
        }
    }

    private final class Control implements ServerControl {
        @Override
        public boolean live() {
            return !ended && !server.exiting();
        }

        @Override
        public boolean ready() {
            return live() && server.ready();
        }

        @Override
        public ServerMetadata metadata() {
            requireOpen();
            gatun.runtime.ServerMetadata metadata = server.metadata();
            return new ServerMetadata(metadata.name(), metadata.version(), metadata.extensions());
        }
    }

    /** Regions registered with a server in this process; those of other processes too, where allowed. */
    static final class EmbeddedRegions implements RegionControl {
        private final InferenceServer server;
        private final Runnable requireOpen;

        /** {@code requireOpen} throws when the server was closed. */
        EmbeddedRegions(InferenceServer server, Runnable requireOpen) {
            this.server = server;
            this.requireOpen = requireOpen;
        }

        @Override
        public void register(String name, String key, long offset, long byteSize) {
            change(regions -> regions.register(name, key, offset, byteSize));
        }

        @Override
        public void registerCuda(String name, byte[] handle, int device, long byteSize) {
            change(regions -> regions.registerCuda(name, handle, device, byteSize));
        }

        @Override
        public void unregister(String name) {
            change(regions -> regions.unregister(name, SystemRegionStatus.class));
        }

        @Override
        public void unregisterCuda(String name) {
            change(regions -> regions.unregister(name, CudaRegionStatus.class));
        }

        @Override
        public void unregisterAll() {
            change(regions -> regions.unregisterAll(SystemRegionStatus.class));
        }

        @Override
        public void unregisterAllCuda() {
            change(regions -> regions.unregisterAll(CudaRegionStatus.class));
        }

        @Override
        public List<SystemRegion> regions() {
            requireOpen.run();
            return server.regions().statuses(SystemRegionStatus.class).stream()
                    .map(region -> new SystemRegion(region.name(), region.key(), region.offset(), region.byteSize()))
                    .toList();
        }

        @Override
        public List<CudaRegion> cudaRegions() {
            requireOpen.run();
            return server.regions().statuses(CudaRegionStatus.class).stream()
                    .map(region -> new CudaRegion(region.name(), region.device(), region.byteSize()))
                    .toList();
        }

        private void change(Consumer<RegionRegistry> change) {
            requireOpen.run();
            translated(() -> {
                change.accept(server.regions());
                return server;
            });
        }
    }
}
