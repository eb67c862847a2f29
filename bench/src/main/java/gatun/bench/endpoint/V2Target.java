// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Target;
import gatun.client.GatunClient;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import java.util.Optional;

/** A server of the v2 protocol, over any transport. Owns the client. */
public final class V2Target implements Target {
    private final GatunClient client;
    private final LoadTransport transport;
    private final RequestPlan plan;
    private final Optional<SharedLayout> layout;

    private V2Target(GatunClient client, LoadTransport transport, RequestPlan plan, Optional<SharedLayout> layout) {
        this.client = client;
        this.transport = transport;
        this.plan = plan;
        this.layout = layout;
    }

    /**
     * The target that {@code data} is sent to.
     *
     * @param client closed with the target; when this fails the caller still owns it
     * @param inSequences whether requests belong to sequences
     * @throws TargetException when the transport cannot carry the model's tensors
     */
    public static V2Target open(
            GatunClient client,
            LoadTransport transport,
            ModelDescription model,
            String version,
            DataSet data,
            boolean inSequences) {
        requireCarried(transport, model, data);
        RequestPlan plan = RequestPlan.of(model, version, data, inSequences);
        Optional<SharedLayout> layout = transport.placement() == LoadTransport.Placement.SENT
                ? Optional.empty()
                : Optional.of(SharedLayout.of(client, transport.placement(), plan));
        return new V2Target(client, transport, plan, layout);
    }

    @Override
    public Caller caller(int worker) {
        StepCursor cursor = plan.cursor(worker);
        boolean stream = transport.wire() == LoadTransport.Wire.GRPC_STREAM;
        if (layout.isPresent()) {
            SharedRequests shared = layout.get().open(client, plan);
            return stream
                    ? new StreamCaller(client, shared, cursor, plan.model().decoupled())
                    : new SharedCaller(shared, cursor);
        }
        RequestSource requests = new SentRequests(plan);
        return stream
                ? new StreamCaller(client, requests, cursor, plan.model().decoupled())
                : new UnaryCaller(client, requests, cursor);
    }

    @Override
    public Optional<ServerCounters> counters() {
        return ServerStatistics.read(client, plan.model().name(), plan.version());
    }

    @Override
    public void close() {
        client.close();
    }

    private static void requireCarried(LoadTransport transport, ModelDescription model, DataSet data) {
        boolean stream = transport.wire() == LoadTransport.Wire.GRPC_STREAM;
        if (model.decoupled() && !stream) {
            throw new TargetException("model '" + model.name()
                    + "' is decoupled, with any number of answers to a request: use --transport=stream over grpc://");
        }
        if (transport.placement() != LoadTransport.Placement.SENT) {
            if (model.decoupled()) {
                throw new TargetException("model '" + model.name()
                        + "' is decoupled: its answers would lie over each other in shared memory; use"
                        + " --transport=stream");
            }
            if (stream && data.checksResponses()) {
                throw new TargetException("answers on a stream that lie in shared memory are not compared with expected"
                        + " outputs: leave stream or the expected outputs away");
            }
        }
        if (transport.wire() == LoadTransport.Wire.HTTP_JSON && transport.placement() == LoadTransport.Placement.SENT) {
            model.outputs().forEach(output -> requireJson(model, output, "output"));
            for (Tensor input : data.step(0).inputs()) {
                requireJson(model, input.spec(), "input");
            }
        }
    }

    private static void requireJson(ModelDescription model, TensorSpec tensor, String role) {
        if (tensor.datatype() == Datatype.FP16 || tensor.datatype() == Datatype.BF16) {
            throw new TargetException(role + " '" + tensor.name() + "' of model '" + model.name() + "' is of "
                    + tensor.datatype() + ", which JSON has no form for: use --transport=binary or grpc://");
        }
    }
}
