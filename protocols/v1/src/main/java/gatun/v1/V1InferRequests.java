// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.Ranking;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ServerExit;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.server.InferenceService;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.v1.InferRequestHeader;
import gatun.wire.v1.InferSharedMemory;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Makes inference requests of v1 headers, by the rules of v1 and in the order of its checks: the model, names that come
 * twice, the batch size, the outputs' names, the inputs. Shapes get their batch dimension here. Safe for any thread.
 */
public final class V1InferRequests {
    /** The version that clients name when any will do. */
    public static final long LATEST_VERSION = -1;

    private final InferenceService server;
    private final ClientRegions regions;

    V1InferRequests(InferenceService server, ClientRegions regions) {
        this.server = server;
        this.regions = regions;
    }

    /**
     * The model version that a client names, or {@link #LATEST_VERSION}. Throws UNAVAILABLE with the protocol's text
     * when there is none, UNSUPPORTED when it gives several responses to a request.
     */
    public ModelVersion model(String name, long version) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        if (version < LATEST_VERSION) {
            throw new GatunException(
                    ErrorCode.UNAVAILABLE,
                    "Request for unknown model: '" + name + "' version " + version + " is not found");
        }
        ModelVersion model;
        try {
            model = server.model(name, version == LATEST_VERSION ? "" : Long.toString(version));
        } catch (GatunException e) {
            throw new GatunException(ErrorCode.UNAVAILABLE, e.getMessage(), e);
        }
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED, "the v1 API doesn't support models with decoupled transaction policy");
        }
        return model;
    }

    /**
     * The request that a header asks for. The caller owns it.
     *
     * @param version the version given to {@link #model}
     * @param client where it comes from
     * @param data gives the inputs that are not in shared memory; the request holds the memory that it lends
     * @throws GatunException with the protocol's text for the first thing that is wrong; nothing is held then
     */
    public InferenceRequest request(
            ModelVersion model,
            long version,
            InferRequestHeader header,
            PeerLocation client,
            Origin origin,
            InputData data) {
        requireWithinLimits(header);
        InferenceRequest request = new InferenceRequest(model);
        try {
            request.anyVersion(version == LATEST_VERSION);
            request.origin(origin);
            if (header.getId() != 0) {
                request.id(Long.toUnsignedString(header.getId()));
            }
            request.correlationId(header.getCorrelationId());
            request.sequenceStart((header.getFlags() & InferRequestHeader.Flag.FLAG_SEQUENCE_START_VALUE) != 0);
            request.sequenceEnd((header.getFlags() & InferRequestHeader.Flag.FLAG_SEQUENCE_END_VALUE) != 0);
            request.priority(Integer.toUnsignedLong(header.getPriority()));
            request.timeoutMicros(header.getTimeoutMicroseconds());
            refuseDuplicates(header);
            long batchSize = batchSize(model, header);
            checkOutputs(model, header);
            addInputs(request, client, batchSize, header, data);
            addOutputs(request, client, header);
            return request;
        } catch (Throwable t) {
            request.close();
            throw t;
        }
    }

    private void requireWithinLimits(InferRequestHeader header) {
        RequestLimits limits = server.limits();
        limits.requireTensors(header.getInputCount(), "inputs");
        limits.requireTensors(header.getOutputCount(), "outputs");
        limits.requireTexts(header.getSerializedSize());
    }

    /** By sets: how many names there are is the client's choice. */
    private static void refuseDuplicates(InferRequestHeader header) {
        Set<String> names = new HashSet<>();
        for (InferRequestHeader.Input input : header.getInputList()) {
            if (!names.add(input.getName())) {
                throw GatunException.invalidArgument("input '" + input.getName() + "' already exists in request");
            }
        }
        names.clear();
        for (InferRequestHeader.Output output : header.getOutputList()) {
            if (!names.add(output.getName())) {
                throw GatunException.invalidArgument("output '" + output.getName() + "' already requested");
            }
        }
    }

    private static long batchSize(ModelVersion model, InferRequestHeader header) {
        long batchSize = Integer.toUnsignedLong(header.getBatchSize());
        int most = Math.max(1, model.config().getMaxBatchSize());
        if (batchSize < 1 || batchSize > most) {
            throw GatunException.invalidArgument("inference request batch-size must be "
                    + (batchSize < 1 ? ">= 1" : "<= " + most) + " for '" + model.name() + "'");
        }
        return batchSize;
    }

    private static void checkOutputs(ModelVersion model, InferRequestHeader header) {
        for (InferRequestHeader.Output output : header.getOutputList()) {
            TensorSpec known = model.outputs().stream()
                    .filter(spec -> spec.name().equals(output.getName()))
                    .findFirst()
                    .orElseThrow(() -> GatunException.invalidArgument(
                            "unexpected inference output '" + output.getName() + "' for model '" + model.name() + "'"));
            if (V1InferResponse.isClassified(output)) {
                Ranking.requireSupported(known.datatype());
            }
        }
    }

    private void addInputs(
            InferenceRequest request, PeerLocation client, long batchSize, InferRequestHeader header, InputData data) {
        ModelVersion model = request.model();
        ModelConfig config = model.config();
        if (header.getInputCount() != config.getInputCount()) {
            throw GatunException.invalidArgument("expected " + config.getInputCount() + " inputs but got "
                    + header.getInputCount() + " inputs for model '" + model.name() + "'");
        }
        for (InferRequestHeader.Input input : header.getInputList()) {
            int index = index(config, input.getName());
            if (index < 0) {
                throw GatunException.invalidArgument(
                        "unexpected inference input '" + input.getName() + "' for model '" + model.name() + "'");
            }
            Shape dims = dims(config.getInput(index), input, model.name());
            Shape shape = config.getMaxBatchSize() > 0 ? dims.prepend(batchSize) : dims;
            Datatype datatype = model.inputs().get(index).datatype();
            long byteSize = byteSize(input, datatype, shape, model.name());
            TensorSpec spec = new TensorSpec(input.getName(), datatype, shape);
            request.addInput(
                    input.hasSharedMemory()
                            ? Tensor.inRegion(spec, window(request, client, input, datatype, byteSize, data))
                            : new Tensor(spec, data.next(input.getName(), datatype, byteSize, request)));
        }
        data.end(request);
    }

    private static int index(ModelConfig config, String input) {
        for (int i = 0; i < config.getInputCount(); i++) {
            if (config.getInput(i).getName().equals(input)) {
                return i;
            }
        }
        return -1;
    }

    /** The dimensions without the batch: the request's, or the configuration's where it gives none. */
    private static Shape dims(ModelInput known, InferRequestHeader.Input input, String model) {
        Shape expected = shape(known.getDimsList());
        if (input.getDimsCount() == 0) {
            if (!expected.isFixed()) {
                throw GatunException.invalidArgument("model supports variable-size for input '" + input.getName()
                        + "', request must specify input shape for model '" + model + "'");
            }
            return expected;
        }
        Shape given = shape(input.getDimsList());
        if (input.getDimsList().stream().anyMatch(dim -> dim < 0) || !expected.accepts(given)) {
            throw GatunException.invalidArgument("unexpected shape for input '" + input.getName() + "' for model '"
                    + model + "'. Expected " + expected + ", got " + given);
        }
        return given;
    }

    private static Shape shape(List<Long> dims) {
        return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
    }

    private static long byteSize(InferRequestHeader.Input input, Datatype datatype, Shape shape, String model) {
        long told = input.getBatchByteSize();
        if (!datatype.isFixedSize()) {
            return told;
        }
        long byteSize = shape.byteSize(datatype);
        if (byteSize < 0 || (told != 0 && told != byteSize)) {
            throw GatunException.invalidArgument("specific batch-byte-size for input '" + input.getName()
                    + "' does not match expected byte-size calculated from shape and datatype for model '" + model
                    + "'");
        }
        return byteSize;
    }

    private RegionLease window(
            InferenceRequest request,
            PeerLocation client,
            InferRequestHeader.Input input,
            Datatype datatype,
            long byteSize,
            InputData data) {
        InferSharedMemory memory = input.getSharedMemory();
        if (memory.getByteSize() != byteSize) {
            throw data.wrongWindow(
                    input.getName(),
                    memory.getByteSize(),
                    byteSize,
                    request.model().name());
        }
        return borrow(request, client, memory, RegionRegistry.Access.forInput(datatype));
    }

    private void addOutputs(InferenceRequest request, PeerLocation client, InferRequestHeader header) {
        for (InferRequestHeader.Output output : header.getOutputList()) {
            // Of an output whose classes are wanted the scores go nowhere, also not to shared memory.
            Optional<RegionLease> destination = output.hasSharedMemory() && !V1InferResponse.isClassified(output)
                    ? Optional.of(borrow(request, client, output.getSharedMemory(), RegionRegistry.Access.WRITE))
                    : Optional.empty();
            request.addOutput(new RequestedOutput(output.getName(), destination, 0));
        }
    }

    private RegionLease borrow(
            InferenceRequest request, PeerLocation client, InferSharedMemory memory, RegionRegistry.Access access) {
        RegionLease lease = regions.borrow(client, memory.getName(), memory.getOffset(), memory.getByteSize(), access);
        request.hold(lease);
        return lease;
    }

    /** A transport's data of the inputs outside shared memory, in order. For one request. */
    public interface InputData {
        /**
         * The next input's data, aligned as its elements; valid as long as {@code request} holds its memory. Throws
         * INVALID_ARGUMENT with the transport's text when there is not so much, or for gRPC more.
         */
        MemorySegment next(String input, Datatype datatype, long byteSize, InferenceRequest request);

        /** All inputs have data. Throws INVALID_ARGUMENT with the transport's text when more was sent. */
        void end(InferenceRequest request);

        /** The failure for a window of shared memory that has not the size that its input must have. */
        GatunException wrongWindow(String input, long byteSize, long expected, String model);
    }
}
