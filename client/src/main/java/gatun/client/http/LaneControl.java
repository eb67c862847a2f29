// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.ClientOptions;
import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.http.ControlCalls.Paths;
import gatun.client.http.OutgoingRequest.PlainRequest;
import gatun.memory.lane.LaneGeometry;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Opens lanes at a server, and prepares requests for them. Safe for any thread. */
public final class LaneControl {
    /** The parameters that each request in a slot says for itself. */
    public static final Set<String> OF_EACH_REQUEST = Set.of("sequence_id", "sequence_start", "sequence_end");

    private static final String LANES = "/v2/lanes";

    private final ClientOptions options;
    private final RequestHeads heads;
    private final ControlCalls calls;

    LaneControl(ClientOptions options, RequestHeads heads, ControlCalls calls) {
        this.options = options;
        this.heads = heads;
        this.calls = calls;
    }

    /** A lane, which ends with its connection. Owned by the caller; {@code name} is the lane's at the server. */
    public record OpenLane(HeldConnection connection, String name) {}

    /** On a connection of its own; {@code key} is of sealed memory. Throws {@link gatun.client.ClientException}. */
    public OpenLane open(String key, LaneGeometry geometry) {
        try (GrowingBuffer body = ControlJson.object(json -> {
            json.writeStringField("key", key);
            json.writeNumberField("slots", geometry.slots());
            json.writeNumberField("tensors", geometry.tensors());
            json.writeNumberField("data_byte_size", geometry.dataByteSize());
        })) {
            List<MemorySegment> pieces = List.of(body.bytes());
            PlainRequest request = new PlainRequest(
                    "POST " + LANES,
                    false,
                    heads.of("POST", LANES, Map.of("Content-Type", "application/json"), pieces),
                    pieces);
            HeldConnection.FirstExchange<String> opened = HeldConnection.open(
                    options,
                    request,
                    connection -> ControlCalls.read(
                            connection, answer -> ControlJson.object(answer).text("lane")));
            return new OpenLane(opened.connection(), opened.result());
        }
    }

    /** Registers a request, and returns its number. Throws {@link gatun.client.ClientException}. */
    public int prepare(String lane, InferRequest request, List<String> regions) {
        try (GrowingBuffer body = ControlJson.object(json -> {
            json.writeArrayFieldStart("inputs");
            for (InferInput input : request.inputs()) {
                json.writeStartObject();
                json.writeStringField("name", input.spec().name());
                json.writeStringField("datatype", input.spec().datatype().wireName());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("outputs");
            for (InferOutput output : request.outputs()) {
                json.writeStartObject();
                json.writeStringField("name", output.name());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("regions");
            for (String region : regions) {
                json.writeString(region);
            }
            json.writeEndArray();
            json.writeObjectFieldStart("parameters");
            for (Map.Entry<String, Object> parameter : request.parameters().entrySet()) {
                if (!OF_EACH_REQUEST.contains(parameter.getKey())) {
                    json.writeObjectField(parameter.getKey(), parameter.getValue());
                }
            }
            json.writeEndObject();
        })) {
            String path = LANES + "/" + lane
                    + Paths.model(request.model(), request.version()).substring("/v2".length());
            return calls.ask(path + "/prepare", body.bytes(), answer ->
                    (int) ControlJson.object(answer).number("prepared"));
        }
    }

    /** Has the server forget a prepared request. */
    public void drop(String lane, int prepared) {
        try (GrowingBuffer body = ControlJson.object(json -> json.writeNumberField("prepared", prepared))) {
            calls.act(LANES + "/" + lane + "/drop", body.bytes(), true);
        }
    }
}
