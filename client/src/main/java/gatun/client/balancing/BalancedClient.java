// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ClientException;
import gatun.client.ClientOptions;
import gatun.client.ClientProvider;
import gatun.client.GatunClient;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.InferStream;
import gatun.client.ModelControl;
import gatun.client.ModelMetadata;
import gatun.client.RegionControl;
import gatun.client.RepositoryModel;
import gatun.client.ServerAddress;
import gatun.client.ServerControl;
import gatun.client.ServerMetadata;
import gatun.client.StreamReceiver;
import gatun.client.calls.AsyncCall;
import gatun.client.calls.Attempts;
import gatun.client.calls.Deadline;
import gatun.client.calls.SingleServerClient;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelStatistics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A client of several servers that serve the same models: see {@link GatunClient#connect(ClientOptions)}. */
public final class BalancedClient implements GatunClient {
    private final ClientOptions options;
    private final Members members;
    private final HedgeBudget hedges = new HedgeBudget();
    private final ServerControl server;
    private final ModelControl models;
    private volatile boolean closed;

    BalancedClient(ClientOptions options) {
        this.options = options;
        members = new Members(options);
        server = new BalancedServerControl(this);
        models = new BalancedModelControl(this);
    }

    @Override
    public InferResponse infer(InferRequest request) {
        requireOpen();
        Deadline deadline = Deadline.of(request.deadline().isPresent() ? request.deadline() : options.deadline());
        if (request.isOfSequence()) {
            Member place = members.ofSequence(request);
            return Attempts.make(
                    options.retries(), deadline, false, () -> place.call(client -> client.infer(request, deadline)));
        }
        hedges.earn();
        boolean mayHedge = options.retries().hedgeAfter().isPresent() && writesNoRegion(request);
        return Attempts.make(
                options.retries(),
                deadline,
                true,
                () -> onOneAfterTheOther(member -> mayHedge
                        ? hedged(member, request, deadline)
                        : member.call(client -> client.infer(request, deadline))));
    }

    @Override
    public CompletableFuture<InferResponse> inferAsync(InferRequest request) {
        requireOpen();
        return AsyncCall.start(() -> infer(request), "gatun-client-infer");
    }

    /** The stream is of one server. */
    @Override
    public InferStream stream(StreamReceiver receiver) {
        requireOpen();
        return onOneAfterTheOther(member -> member.call(client -> client.stream(receiver)));
    }

    @Override
    public ServerControl server() {
        return server;
    }

    @Override
    public ModelControl models() {
        return models;
    }

    @Override
    public RegionControl regions() {
        throw new UnsupportedOperationException("shared memory is a matter of one machine, and " + address()
                + " are several servers: make a client of the one on this machine");
    }

    @Override
    public String address() {
        return options.servers().stream().map(ServerAddress::toString).collect(Collectors.joining(", "));
    }

    @Override
    public void close() {
        closed = true;
        members.close();
    }

    @Override
    public String toString() {
        return "client of " + address();
    }

    <T> T ask(Function<SingleServerClient, T> call) {
        requireOpen();
        return Attempts.make(
                options.retries(),
                Deadline.of(options.deadline()),
                true,
                () -> onOneAfterTheOther(member -> member.call(call)));
    }

    /** Each server's own client. */
    List<SingleServerClient> clients() {
        requireOpen();
        return members.all().stream().map(Member::client).toList();
    }

    /** Calls the least busy server, and the next at once where that fails and the call may be repeated. */
    private <T> T onOneAfterTheOther(Function<Member, T> call) {
        Member member = Objects.requireNonNull(members.leastBusy(List.of()), "there is at least one server");
        List<Member> tried = List.of();
        while (true) {
            try {
                return call.apply(member);
            } catch (ClientException e) {
                tried = tried.isEmpty() ? new ArrayList<>() : tried;
                tried.add(member);
                Member next = Attempts.mayBeRepeated(e, true) ? members.leastBusy(tried) : null;
                if (next == null || Thread.currentThread().isInterrupted()) {
                    throw e;
                }
                member = next;
            }
        }
    }

    private InferResponse hedged(Member first, InferRequest request, Deadline deadline) {
        Duration time = options.retries().hedgeAfter().orElseThrow();
        Hedge hedge = new Hedge();
        hedge.start(() -> first.call(client -> client.infer(request, deadline)));
        if (!hedge.hasEndedWithin(time)) {
            Member second = members.leastBusy(List.of(first));
            if (second != null && hedges.spend()) {
                hedge.start(() -> second.call(client -> client.infer(request, deadline)));
            }
        }
        return hedge.await();
    }

    private static boolean writesNoRegion(InferRequest request) {
        return request.outputs().stream().noneMatch(InferOutput.InRegion.class::isInstance);
    }

    private void requireOpen() {
        if (closed) {
            throw new IllegalStateException("the client of " + address() + " was closed: make another one");
        }
    }

    /** Several servers as one: it lives and is ready while one of them is. Safe for any thread. */
    record BalancedServerControl(BalancedClient client) implements ServerControl {
        @Override
        public boolean live() {
            return client.clients().stream().anyMatch(each -> each.server().live());
        }

        @Override
        public boolean ready() {
            return client.clients().stream().anyMatch(each -> each.server().ready());
        }

        @Override
        public ServerMetadata metadata() {
            return client.ask(each -> each.server().metadata());
        }
    }

    /** Asks one server and tells all; when one fails to load or unload, those before it have done so. Thread-safe. */
    record BalancedModelControl(BalancedClient client) implements ModelControl {
        @Override
        public boolean ready(String model, String version) {
            return client.ask(each -> each.models().ready(model, version));
        }

        @Override
        public ModelMetadata metadata(String model, String version) {
            return client.ask(each -> each.models().metadata(model, version));
        }

        @Override
        public ModelConfig config(String model, String version) {
            return client.ask(each -> each.models().config(model, version));
        }

        @Override
        public List<ModelStatistics> statistics(String model, String version) {
            return client.ask(each -> each.models().statistics(model, version));
        }

        @Override
        public List<RepositoryModel> index(boolean onlyReady) {
            return client.ask(each -> each.models().index(onlyReady));
        }

        @Override
        public void load(String model, String config, Map<String, byte[]> files) {
            client.clients().forEach(each -> each.models().load(model, config, files));
        }

        @Override
        public void unload(String model, boolean dependents) {
            client.clients().forEach(each -> each.models().unload(model, dependents));
        }
    }

    /** Makes these clients for their kind of address. */
    public static final class Provider implements ClientProvider {
        /** For the service loader. */
        public Provider() {}

        @Override
        public boolean isFor(ClientOptions options) {
            return options.servers().size() > 1;
        }

        @Override
        public GatunClient connect(ClientOptions options) {
            return new BalancedClient(options);
        }
    }
}
