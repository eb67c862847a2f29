// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.RequestedOutput;
import gatun.runtime.limits.RequestUsage;
import gatun.runtime.server.InferenceServer;
import java.util.List;
import java.util.Optional;

/** Reads the JSON of one inference request into an {@link InferenceRequest}. For one thread. */
final class InferRequestReader {
    private final ClientRegions regions;
    private final Exchange exchange;
    private final InferenceRequest request;
    private final OutputForms forms;
    private final JsonReader json;
    private final RequestUsage usage;
    private final InputReader inputReader;
    private final List<TensorSpec> modelOutputs;

    /**
     * Reads {@code body}, which came in {@code exchange} and which {@code request} holds.
     *
     * @param regions the shared memory of clients
     * @param forms learns in which form outputs are wanted
     * @param maxInputByteSize the most bytes that a tensor given in JSON may have
     */
    InferRequestReader(
            InferenceServer server,
            ClientRegions regions,
            Exchange exchange,
            InferenceRequest request,
            InferBodies.Body body,
            OutputForms forms,
            long maxInputByteSize) {
        this.regions = regions;
        this.exchange = exchange;
        this.request = request;
        this.forms = forms;
        this.usage = new RequestUsage(server.limits(), server.heap());
        this.json = new JsonReader(body.segment(), body.jsonOffset(), body.jsonByteSize(), usage);
        this.inputReader =
                new InputReader(server.buffers(), this::borrow, request, body, json, usage, maxInputByteSize);
        this.modelOutputs = request.model().outputs();
    }

    /**
     * Reads all of it. Of members that come twice, the first counts.
     *
     * @throws GatunException INVALID_ARGUMENT, RESOURCE_EXHAUSTED beyond the limits of a request, or an error of
     *     borrowing a region
     */
    void read() {
        try {
            readMembers();
        } catch (GatunException e) {
            throw json.failure(e);
        } finally {
            if (usage.holdsHeap()) {
                request.hold(usage);
            }
        }
        inputReader.checkAllBytesUsed();
    }

    private void readMembers() {
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
                readOutputs();
            } else if (!hasId && json.nameIs("id")) {
                hasId = true;
                request.id(json.readString("Unable to parse 'id'"));
            } else if (!hasParameters && json.nameIs("parameters")) {
                hasParameters = true;
                RequestParameters.read(json, usage, request, forms);
            } else {
                json.skipValue();
            }
        }
        json.end();
        if (!hasInputs) {
            throw JsonFailure.missingMember("Unable to parse 'inputs'", "inputs");
        }
    }

    private void readOutputs() {
        json.enterArray("Unable to parse 'outputs'");
        int count = 0;
        while (json.nextElement()) {
            usage.addTensor(++count, "outputs");
            readOutput();
        }
    }

    private void readOutput() {
        Optional<String> name = Optional.empty();
        OutputParameters parameters = new OutputParameters();
        boolean hasParameters = false;
        json.enterObject("Unable to parse 'outputs'");
        while (json.nextMember()) {
            if (name.isEmpty() && json.nameIs("name")) {
                name = Optional.of(json.readString("Unable to parse 'name'", modelOutputs, TensorSpec::name));
            } else if (!hasParameters && json.nameIs("parameters")) {
                hasParameters = true;
                parameters.read(json, usage);
            } else {
                json.skipValue();
            }
        }
        String output = name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name"));
        Optional<RegionLease> destination = parameters.region.map(region -> borrow(region, parameters));
        request.addOutput(new RequestedOutput(output, destination, parameters.classification));
        forms.list(parameters.binary);
    }

    private RegionLease borrow(String region, OutputParameters parameters) {
        if (parameters.classification > 0) {
            throw GatunException.invalidArgument("Output can't set both 'shared_memory_region' and 'classification'");
        }
        if (parameters.binary) {
            throw GatunException.invalidArgument("Output can't set both 'shared_memory_region' and 'binary_data'");
        }
        return borrow(region, parameters.regionOffset, parameters.regionByteSize, RegionRegistry.Access.WRITE);
    }

    /** Borrows a window of a region, which the request holds. */
    private RegionLease borrow(String region, long offset, long byteSize, RegionRegistry.Access access) {
        RegionLease lease = regions.borrow(exchange.location(), region, offset, byteSize, access);
        request.hold(lease);
        return lease;
    }

    /** The parameters of an output. */
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
