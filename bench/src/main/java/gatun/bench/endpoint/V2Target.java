// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import gatun.bench.data.ExpectedOutputs;
import gatun.bench.data.ModelDescription;
import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.ServerCounters.ServerTimes;
import gatun.bench.load.Target;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.SharedTensors;
import gatun.client.SharedTensorsBuilder;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatistics;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /** Owns {@code client}, unless it throws {@link TargetException} for tensors that the transport cannot carry. */
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

    /** Reads a model's counters by the v2 protocol's extension for statistics. */
    static final class ServerStatistics {
        private ServerStatistics() {}

        /** The counters of all versions, or of one; empty when the server does not tell. */
        static Optional<ServerCounters> read(GatunClient client, String model, String version) {
            try {
                return client.models().statistics(model, version).stream()
                        .map(ServerStatistics::counters)
                        .reduce(ServerCounters::plus);
            } catch (ClientException e) {
                return Optional.empty();
            }
        }

        private static ServerCounters counters(ModelStatistics model) {
            InferStatistics times = model.getInferenceStats();
            return new ServerCounters(
                    model.getInferenceCount(),
                    model.getExecutionCount(),
                    times.getSuccess().getCount(),
                    times.getCacheHit().getCount(),
                    new ServerTimes(
                            times.getSuccess().getNs(),
                            times.getQueue().getNs(),
                            times.getComputeInput().getNs(),
                            times.getComputeInfer().getNs(),
                            times.getComputeOutput().getNs()));
        }
    }

    /** Requests that are each a call of the client, their tensors in shared memory. */
    static final class SharedCaller implements Caller {
        private final SharedRequests requests;
        private final StepCursor cursor;

        SharedCaller(SharedRequests requests, StepCursor cursor) {
            this.requests = requests;
            this.cursor = cursor;
        }

        @Override
        public void prepare() {
            requests.write(cursor.next(), cursor);
        }

        @Override
        public void call() {
            requests.infer(cursor.step());
        }

        @Override
        public String finish() {
            cursor.answered();
            return requests.differences(cursor.step().expected());
        }

        @Override
        public long tensorByteSize() {
            return cursor.step().byteSize() + requests.sharedOutputByteSize();
        }

        @Override
        public void close() {
            requests.close();
        }
    }

    /** The room that tensors need in shared memory. */
    record SharedLayout(
            LoadTransport.Placement placement,
            List<TensorSpec> inputs,
            Map<String, Long> inputBytes,
            Map<String, Long> outputBytes) {
        private static final int FIRST_GPU = 0;

        /** The room for a plan's data; requests learn open output sizes. Throws when their shapes differ. */
        static SharedLayout of(GatunClient client, LoadTransport.Placement placement, RequestPlan plan) {
            List<TensorSpec> inputs =
                    plan.data().step(0).inputs().stream().map(Tensor::spec).toList();
            Map<String, Long> inputBytes = new LinkedHashMap<>();
            for (int i = 0; i < plan.data().size(); i++) {
                Step step = plan.data().step(i);
                if (!step.inputs().stream().map(Tensor::spec).toList().equals(inputs)) {
                    throw new TargetException("the requests of the data have inputs of different shapes:"
                            + " shared memory is laid out once, for requests of the same shapes");
                }
                for (Tensor input : step.inputs()) {
                    inputBytes.merge(input.spec().name(), input.byteSize(), Math::max);
                }
            }
            return new SharedLayout(placement, inputs, inputBytes, outputBytes(client, plan));
        }

        /** Allocates this memory and registers it. The caller closes the result. */
        SharedRequests open(GatunClient client, RequestPlan plan) {
            String model = plan.model().name();
            SharedTensorsBuilder builder =
                    switch (placement) {
                        case SENT -> throw new IllegalStateException("tensors that are sent have no layout");
                        case POSIX -> SharedTensors.posix(client, model);
                        case SEALED -> SharedTensors.sealed(client, model);
                        case CUDA -> SharedTensors.cuda(client, model, FIRST_GPU);
                    };
            builder.version(plan.version());
            for (TensorSpec input : inputs) {
                long[] dims = input.shape().toArray();
                if (input.datatype() == Datatype.BYTES) {
                    builder.inputBytes(input.name(), inputBytes.getOrDefault(input.name(), 0L), dims);
                } else {
                    builder.input(input.name(), input.datatype(), dims);
                }
            }
            outputBytes.forEach(builder::outputBytes);
            long outputs =
                    outputBytes.values().stream().mapToLong(Long::longValue).sum();
            try {
                return new SharedRequests(builder.open(), plan, outputs);
            } catch (IllegalArgumentException e) {
                throw new TargetException("tensors of model '" + model + "' in shared memory: " + e.getMessage(), e);
            }
        }

        private static Map<String, Long> outputBytes(GatunClient client, RequestPlan plan) {
            Map<String, Long> known = new LinkedHashMap<>();
            boolean all = true;
            for (TensorSpec output : plan.model().outputs()) {
                Shape shape = output.shape();
                if (plan.model().batched() && shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE) {
                    shape = shape.withFirst(plan.data()
                            .step(0)
                            .inputs()
                            .getFirst()
                            .spec()
                            .shape()
                            .dim(0));
                }
                long byteSize = shape.byteSize(output.datatype());
                all &= byteSize >= 0;
                known.put(output.name(), Math.max(byteSize, 1));
            }
            if (all) {
                return known;
            }
            if (plan.inSequences()) {
                throw new TargetException("model '" + plan.model().name()
                        + "' has outputs of unknown size, which shared memory has no room for in sequences:"
                        + " leave shared memory away");
            }
            Map<String, Long> asked = new LinkedHashMap<>();
            for (int i = 0; i < plan.data().size(); i++) {
                try (InferResponse response =
                        client.infer(plan.request(plan.data().step(i)).build())) {
                    for (Tensor output : response.outputs()) {
                        asked.merge(output.spec().name(), Math.max(1, output.byteSize()), Math::max);
                    }
                }
            }
            return asked;
        }
    }

    /** Requests whose tensors lie in memory that the server shares. Owns that memory. For one thread. */
    static final class SharedRequests implements RequestSource {
        private final SharedTensors tensors;
        private final RequestPlan plan;
        private final long outputByteSize;
        private int written = -1;
        private long sequence;

        SharedRequests(SharedTensors tensors, RequestPlan plan, long outputByteSize) {
            this.tensors = tensors;
            this.plan = plan;
            this.outputByteSize = outputByteSize;
        }

        @Override
        public InferRequest prepare(int index, StepCursor cursor) {
            write(index, cursor);
            return tensors.request();
        }

        /** Writes the inputs of the cursor's step, unless they are there already. */
        void write(int index, StepCursor cursor) {
            sequence = cursor.sequence();
            if (written == index) {
                return;
            }
            for (Tensor input : cursor.step().inputs()) {
                tensors.write(input.spec().name(), input.bytes());
            }
            written = index;
        }

        void infer(Step step) {
            if (plan.inSequences()) {
                tensors.infer(request -> request.sequence(sequence, step.start(), step.end()));
            } else {
                tensors.infer();
            }
        }

        /** The first difference between the last response's outputs and the expected ones; empty for none. */
        String differences(ExpectedOutputs expected) {
            if (expected.isNothing()) {
                return "";
            }
            List<Tensor> outputs = new ArrayList<>();
            for (Tensor wanted : expected.outputs()) {
                // A copy, since that of a GPU cannot be looked at.
                String name = wanted.spec().name();
                outputs.add(new Tensor(tensors.outputSpec(name), MemorySegment.ofArray(tensors.bytes(name))));
            }
            return expected.differences(outputs);
        }

        @Override
        public long sharedOutputByteSize() {
            return outputByteSize;
        }

        @Override
        public void close() {
            tensors.close();
        }
    }
}
