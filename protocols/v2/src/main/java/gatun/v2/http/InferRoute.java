// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.Origin;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ServerExit;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.InferenceService;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.v2.http.InferBodies.RawInput;
import gatun.v2.http.InferResponseBody.OutputForms;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Inference: from the body of a request to the response. Safe for any thread. */
final class InferRoute {
    static final Origin ORIGIN = new Origin(0, "v2", "http");

    private final InferenceService server;
    private final InferBodies bodies;
    private final HeaderForwarding forwarding;
    private final Supplier<InferRequestReader> readers;
    private final ResponseHeaders.Constant binary;

    InferRoute(
            InferenceService server,
            ClientRegions regions,
            long maxInputByteSize,
            HeaderForwarding forwarding,
            ResponseHeaders.Constant binary) {
        this.server = server;
        this.bodies = new InferBodies(server, maxInputByteSize);
        this.forwarding = forwarding;
        this.readers = () -> new InferRequestReader(server, regions, maxInputByteSize);
        this.binary = binary;
    }

    void answer(Exchange exchange, String name, String version) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        ModelVersion model = server.model(name, version);
        if (model.decoupled()) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED, "HTTP end point doesn't support models with decoupled transaction policy");
        }
        Optional<RequestTrace> trace = exchange.beginTrace(server, model);
        try {
            answer(exchange, model, version.isEmpty(), trace);
        } finally {
            trace.ifPresent(RequestTrace::end);
        }
    }

    private void answer(Exchange exchange, ModelVersion model, boolean anyVersion, Optional<RequestTrace> trace) {
        InferRequestReader reader = exchange.kept(readers);
        InferenceRequest request = read(exchange, model, reader);
        request.anyVersion(anyVersion);
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_END));
        trace.ifPresent(request::trace);
        try (InferenceResponse response =
                exchange.whileClientWaits(request.cancellation()::cancel, () -> server.infer(request))) {
            trace.ifPresent(present -> present.reached(TraceStage.INFER_RESPONSE_COMPLETE));
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_START));
            response.releaseRegions();
            InferResponseBody.send(exchange, response, reader.forms(), binary, server.heap());
            trace.ifPresent(present -> present.reached(TraceStage.HTTP_SEND_END));
        } catch (GatunException e) {
            throw request.afterRun(e); // there may be no memory for the response
        }
    }

    private InferenceRequest read(Exchange exchange, ModelVersion model, InferRequestReader reader) {
        reader.begin();
        try {
            InferBodies.Body body = reader.body();
            bodies.land(exchange, model, body);
            InferenceRequest request = new InferenceRequest(model);
            request.origin(ORIGIN);
            request.sender(exchange.sender());
            try {
                request.hold(body.buffer());
                if (body.raw()) {
                    RawInput.add(request, body);
                    reader.forms().binaryByDefault(true);
                } else {
                    reader.read(exchange, request);
                }
                if (!forwarding.isNone()) {
                    exchange.eachHeader((header, value) -> forwarding.forward(header, value, request));
                }
            } catch (Throwable t) {
                request.close();
                throw t;
            }
            return request;
        } finally {
            reader.end();
        }
    }

    /** Reads requests' JSON into {@link InferenceRequest}s. One for each connection; for its thread. */
    static final class InferRequestReader {
        private final InferenceService server;
        private final ClientRegions regions;
        private final InferBodies.Body body = new InferBodies.Body();
        private final OutputForms forms = new OutputForms();
        private final JsonReader json = new JsonReader();
        private final InputReader inputReader;
        private RequestUsage usage;

        // Of the request that is read.
        private @Nullable Exchange exchange;
        private @Nullable InferenceRequest request;

        InferRequestReader(InferenceService server, ClientRegions regions, long maxInputByteSize) {
            this.server = server;
            this.regions = regions;
            this.usage = new RequestUsage(server.limits(), server.heap());
            this.inputReader = new InputReader(server.buffers(), this::borrow, body, json, maxInputByteSize);
        }

        InferBodies.Body body() {
            return body;
        }

        /** In which form the outputs of the last request are wanted; until the next is begun. */
        OutputForms forms() {
            return forms;
        }

        void begin() {
            forms.clear();
        }

        /** Forgets the memory and the objects of the last request. Its {@link #forms} are still known. */
        void end() {
            body.clear();
            exchange = null;
            request = null;
            inputReader.end();
            json.begin(MemorySegment.NULL, 0, 0, usage);
        }

        /** Reads the body of {@code from} for {@code into}; of equal members the first counts. */
        void read(Exchange from, InferenceRequest into) {
            exchange = from;
            request = into;
            usage.restart();
            json.begin(body.segment(), body.jsonOffset(), body.jsonByteSize(), usage);
            inputReader.begin(into, usage);
            try {
                readMembers(into);
            } catch (GatunException e) {
                throw json.failure(e);
            } finally {
                if (usage.holdsHeap()) {
                    into.hold(usage);
                    usage = new RequestUsage(server.limits(), server.heap());
                }
            }
            inputReader.checkAllBytesUsed();
        }

        private void readMembers(InferenceRequest into) {
            boolean hasId = false;
            boolean hasParameters = false;
            boolean hasInputs = false;
            boolean hasOutputs = false;
            json.enterObject("");
            while (json.nextMember()) {
                if (!hasInputs && json.nameIs("inputs")) {
                    hasInputs = true;
                    inputReader.readAll();
                } else if (!hasOutputs && json.nameIs("outputs")) {
                    hasOutputs = true;
                    readOutputs(into);
                } else if (!hasId && json.nameIs("id")) {
                    hasId = true;
                    into.id(json.readString("Unable to parse 'id'"));
                } else if (!hasParameters && json.nameIs("parameters")) {
                    hasParameters = true;
                    RequestParameters.read(json, usage, into, forms);
                } else {
                    json.skipValue();
                }
            }
            json.end();
            if (!hasInputs) {
                throw JsonFailure.missingMember("Unable to parse 'inputs'", "inputs");
            }
        }

        private void readOutputs(InferenceRequest into) {
            json.enterArray("Unable to parse 'outputs'");
            int count = 0;
            while (json.nextElement()) {
                usage.addTensor(++count, "outputs");
                readOutput(into);
            }
        }

        private void readOutput(InferenceRequest into) {
            Optional<String> name = Optional.empty();
            OutputParameters parameters = new OutputParameters();
            boolean hasParameters = false;
            json.enterObject("Unable to parse 'outputs'");
            while (json.nextMember()) {
                if (name.isEmpty() && json.nameIs("name")) {
                    name = Optional.of(json.readString(
                            "Unable to parse 'name'", into.model().outputs(), TensorSpec::name));
                } else if (!hasParameters && json.nameIs("parameters")) {
                    hasParameters = true;
                    parameters.read(json, usage);
                } else {
                    json.skipValue();
                }
            }
            String output = name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name"));
            Optional<RegionLease> destination = parameters.region.map(region -> borrow(region, parameters));
            into.addOutput(new RequestedOutput(output, destination, parameters.classification));
            forms.list(parameters.binary);
        }

        private RegionLease borrow(String region, OutputParameters parameters) {
            if (parameters.classification > 0) {
                throw GatunException.invalidArgument(
                        "Output can't set both 'shared_memory_region' and 'classification'");
            }
            if (parameters.binary) {
                throw GatunException.invalidArgument("Output can't set both 'shared_memory_region' and 'binary_data'");
            }
            return borrow(region, parameters.regionOffset, parameters.regionByteSize, RegionRegistry.Access.WRITE);
        }

        private RegionLease borrow(String region, long offset, long byteSize, RegionRegistry.Access access) {
            PeerLocation location = Objects.requireNonNull(exchange).location();
            RegionLease lease = regions.borrow(location, region, offset, byteSize, access);
            Objects.requireNonNull(request).hold(lease);
            return lease;
        }

        private static final class OutputParameters {
            private int classification;
            private boolean binary;
            private Optional<String> region = Optional.empty();
            private long regionOffset;
            private long regionByteSize;

            private void read(JsonReader json, RequestUsage usage) {
                json.enterObject("Unable to parse 'parameters'");
                while (json.nextMember()) {
                    usage.addParameter();
                    if (json.nameIs("binary_data")) {
                        binary = json.readBoolean("Unable to parse 'binary_data'");
                    } else if (json.nameIs("classification")) {
                        long count = json.readUnsigned("Unable to set 'classification'");
                        classification = count < 0 ? Integer.MAX_VALUE : (int) Math.min(count, Integer.MAX_VALUE);
                    } else if (json.nameIs("shared_memory_region")) {
                        region = Optional.of(json.readString("Unable to parse 'shared_memory_region'"));
                    } else if (json.nameIs("shared_memory_offset")) {
                        regionOffset = json.readUnsigned("Unable to parse 'shared_memory_offset'");
                    } else if (json.nameIs("shared_memory_byte_size")) {
                        regionByteSize = json.readUnsigned("Unable to parse 'shared_memory_byte_size'");
                    } else {
                        json.skipValue();
                    }
                }
            }
        }
    }
}
