// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.json.JsonFailure;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ClientRegions;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.RequestedOutput;
import gatun.runtime.ServerExit;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.InferenceService;
import gatun.v2.http.InferResponseBody.OutputForms;
import gatun.v2.lane.Lane;
import gatun.v2.lane.Lanes;
import gatun.v2.lane.PreparedRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Opening lanes, which last as long as the connection, and preparing requests for them. Safe for any thread. */
final class LaneRoutes {
    private static final int DEFAULT_SLOTS = 16;
    private static final int DEFAULT_TENSORS = 16;

    private final InferenceService server;
    private final Lanes lanes;
    private final ClientRegions regions;
    private final JsonBody jsonBody;
    private final HeaderForwarding forwarding;

    LaneRoutes(
            InferenceService server,
            Lanes lanes,
            ClientRegions regions,
            JsonBody jsonBody,
            HeaderForwarding forwarding) {
        this.server = server;
        this.lanes = lanes;
        this.regions = regions;
        this.jsonBody = jsonBody;
        this.forwarding = forwarding;
    }

    void open(Exchange exchange) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        regions.requireAllowed(exchange.location());
        Opening opening = new Opening();
        jsonBody.readControl(exchange, opening);
        String key = opening.key.orElseThrow(() -> lacks("key"));
        LaneGeometry geometry = new LaneGeometry(opening.slots, opening.tensors, opening.dataByteSize);
        Lane lane = lanes.open(key, geometry);
        if (!exchange.holdWithConnection(lane)) {
            lane.close();
            throw GatunException.invalidArgument(
                    "this connection has a lane already: open one more on a connection of its own");
        }
        lane.endWith(exchange.budget(), exchange.connectionEnd());
        JsonWriter json = exchange.json(JsonResponse.HEADERS).raw("{\"lane\":").string(lane.name());
        json.raw(",\"prepared_limit\":").unsigned(lane.preparedLimit()).raw('}');
        JsonResponse.send(exchange, json);
    }

    /** Prepares the request that the body describes: one for inference without data. */
    void prepare(Exchange exchange, String laneName, String modelName, String version) {
        if (server.exiting()) {
            throw ServerExit.refusal();
        }
        regions.requireAllowed(exchange.location());
        Lane lane = lanes.lane(laneName);
        ModelVersion model = server.model(modelName, version);
        InferenceRequest said = new InferenceRequest(model);
        said.anyVersion(version.isEmpty());
        RequestUsage usage = jsonBody.usage();
        PreparedRequest prepared;
        try {
            PreparedReader reader = new PreparedReader(said, usage);
            jsonBody.readControl(exchange, usage, reader);
            if (!forwarding.isNone()) {
                exchange.eachHeader((header, value) -> forwarding.forward(header, value, said));
            }
            prepared = PreparedRequest.of(reader.definition(), said, usage, reader.byteSize());
        } catch (Throwable t) {
            usage.close();
            throw t;
        }
        int number = lane.prepare(prepared);
        JsonWriter json =
                exchange.json(JsonResponse.HEADERS).raw("{\"prepared\":").unsigned(number);
        String separator = ",\"outputs\":[";
        for (String output : prepared.outputNames()) {
            json.raw(separator).string(output);
            separator = ",";
        }
        JsonResponse.send(exchange, json.raw(prepared.outputNames().isEmpty() ? ",\"outputs\":[]}" : "]}"));
    }

    void drop(Exchange exchange, String laneName) {
        regions.requireAllowed(exchange.location());
        Lane lane = lanes.lane(laneName);
        Dropping dropping = new Dropping();
        jsonBody.readControl(exchange, dropping);
        lane.drop(dropping.prepared.orElseThrow(() -> lacks("prepared")));
        JsonResponse.sendEmpty(exchange);
    }

    private static GatunException lacks(String field) {
        return GatunException.invalidArgument("Lane request has no '" + field + "' field");
    }

    /** The members of a request for a lane; of one that comes twice, the last counts. */
    private static final class Opening implements JsonBody.Members {
        private Optional<String> key = Optional.empty();
        private int slots = DEFAULT_SLOTS;
        private int tensors = DEFAULT_TENSORS;
        private long dataByteSize;

        @Override
        public void member(JsonReader json) {
            if (json.nameIs("key")) {
                key = Optional.of(json.readString("Unable to parse 'key'"));
            } else if (json.nameIs("slots")) {
                slots = count(json.readUnsigned("Unable to parse 'slots'"));
            } else if (json.nameIs("tensors")) {
                tensors = count(json.readUnsigned("Unable to parse 'tensors'"));
            } else if (json.nameIs("data_byte_size")) {
                dataByteSize = json.readUnsigned("Unable to parse 'data_byte_size'");
            } else {
                json.skipValue();
            }
        }

        private static int count(long number) {
            return number < 0 || number > Integer.MAX_VALUE ? Integer.MAX_VALUE : (int) number;
        }
    }

    /** The number of a prepared request. */
    private static final class Dropping implements JsonBody.Members {
        private Optional<Long> prepared = Optional.empty();

        @Override
        public void member(JsonReader json) {
            if (json.nameIs("prepared")) {
                prepared = Optional.of(json.readUnsigned("Unable to parse 'prepared'"));
            } else {
                json.skipValue();
            }
        }
    }

    /** Reads a request without data: names, datatypes, parameters and regions. Shapes are skipped. Not thread-safe. */
    static final class PreparedReader implements JsonBody.Members {
        private final InferenceRequest said;
        private final RequestUsage usage;
        private final OutputForms forms = new OutputForms();
        private final List<PreparedRequest.Input> inputs = new ArrayList<>();
        private final List<RequestedOutput> outputs = new ArrayList<>();
        private final List<String> regions = new ArrayList<>();
        private long byteSize;

        PreparedReader(InferenceRequest said, RequestUsage usage) {
            this.said = said;
            this.usage = usage;
        }

        PreparedRequest.Definition definition() {
            return new PreparedRequest.Definition(inputs, outputs, regions);
        }

        long byteSize() {
            return byteSize;
        }

        @Override
        public void member(JsonReader json) {
            if (json.nameIs("inputs")) {
                json.enterArray("Unable to parse 'inputs'");
                while (json.nextElement()) {
                    usage.addTensor(inputs.size() + 1, "inputs");
                    readInput(json);
                }
            } else if (json.nameIs("outputs")) {
                json.enterArray("Unable to parse 'outputs'");
                while (json.nextElement()) {
                    usage.addTensor(outputs.size() + 1, "outputs");
                    readOutput(json);
                }
            } else if (json.nameIs("regions")) {
                json.enterArray("Unable to parse 'regions'");
                while (json.nextElement()) {
                    usage.addParameter();
                    regions.add(json.readString("Unable to parse 'regions'"));
                }
            } else if (json.nameIs("id")) {
                said.id(json.readString("Unable to parse 'id'"));
            } else if (json.nameIs("parameters")) {
                RequestParameters.read(json, usage, said, forms);
            } else {
                json.skipValue();
            }
            byteSize = json.position();
        }

        private void readInput(JsonReader json) {
            Optional<String> name = Optional.empty();
            Optional<Datatype> datatype = Optional.empty();
            json.enterObject("Unable to parse 'inputs'");
            while (json.nextMember()) {
                if (json.nameIs("name")) {
                    name = Optional.of(json.readString("Unable to parse 'name'"));
                } else if (json.nameIs("datatype")) {
                    datatype = Optional.of(InputReader.readDatatype(json));
                } else {
                    json.skipValue();
                }
            }
            inputs.add(new PreparedRequest.Input(
                    name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name")),
                    datatype.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'datatype'", "datatype"))));
        }

        private void readOutput(JsonReader json) {
            Optional<String> name = Optional.empty();
            int classification = 0;
            json.enterObject("Unable to parse 'outputs'");
            while (json.nextMember()) {
                if (json.nameIs("name")) {
                    name = Optional.of(json.readString("Unable to parse 'name'"));
                } else if (json.nameIs("parameters")) {
                    classification = readClassification(json);
                } else {
                    json.skipValue();
                }
            }
            outputs.add(new RequestedOutput(
                    name.orElseThrow(() -> JsonFailure.missingMember("Unable to parse 'name'", "name")),
                    Optional.empty(),
                    classification));
        }

        private int readClassification(JsonReader json) {
            int classification = 0;
            json.enterObject("Unable to parse 'parameters'");
            while (json.nextMember()) {
                usage.addParameter();
                if (json.nameIs("classification")) {
                    long count = json.readUnsigned("Unable to set 'classification'");
                    classification = count < 0 ? Integer.MAX_VALUE : (int) Math.min(count, Integer.MAX_VALUE);
                } else {
                    json.skipValue();
                }
            }
            return classification;
        }
    }
}
