// SPDX-License-Identifier: Apache-2.0
package gatun.http.openapi;

import gatun.http.json.JsonWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/** The requests that a path takes of one method, and the responses that it gives them. Immutable. */
public final class Operation {
    /** Nothing is said of the requests, nor of the responses. */
    public static final Operation UNDESCRIBED = new Operation(Map.of(), Map.of(), false, Map.of());

    /** Any request, if its client may send it, and no response but the failures of the listener itself. */
    private static final Operation REFUSED =
            UNDESCRIBED.failing(401, 403, 421, 500); // restricted, of a foreign page, to another host, unexpectedly

    /** The media type of JSON. */
    public static final String JSON = "application/json";

    /** The media type of bytes. */
    public static final String OCTETS = "application/octet-stream";

    private static final int OK = 200;

    private final Map<String, Parameter> parameters;
    private final Map<String, Schema> body;
    private final boolean bodyRequired;
    private final Map<Integer, Response> responses;

    /** Where a parameter is, and which values it may have. */
    private record Parameter(String in, boolean required, Schema schema) {}

    private Operation(
            Map<String, Parameter> parameters,
            Map<String, Schema> body,
            boolean bodyRequired,
            Map<Integer, Response> responses) {
        this.parameters = parameters;
        this.body = body;
        this.bodyRequired = bodyRequired;
        this.responses = responses;
    }

    /** Requests that fail whatever they are. */
    public static Operation refusing() {
        return REFUSED;
    }

    /** Requests that are answered with JSON. */
    public static Operation returning(Schema json) {
        return REFUSED.orReturning(JSON, json);
    }

    /** Requests that are answered with status 200 and no body, or one without a media type. */
    public static Operation returningNothing() {
        return REFUSED.with(new Response(OK, Map.of()));
    }

    /** The same, answered with a body of this media type, or one that was said before. */
    public Operation orReturning(String mediaType, Schema schema) {
        return with(OK, mediaType, schema);
    }

    /** The same, whose failures of these statuses have the usual body: {@code {"error":"..."}}. */
    public Operation failing(int... statuses) {
        return failing(JSON, Schema.FAILURE, statuses);
    }

    /** The same, whose failures of these statuses have a body of this media type, or one that was said before. */
    public Operation failing(String mediaType, Schema schema, int... statuses) {
        Operation all = this;
        for (int status : statuses) {
            all = all.with(status, mediaType, schema);
        }
        return all;
    }

    /** The same, whose failures of these statuses have no body, or one without a media type. */
    public Operation failingSilently(int... statuses) {
        Operation all = this;
        for (int status : statuses) {
            all = all.with(new Response(status, Map.of()));
        }
        return all;
    }

    /** The same for requests with a body of JSON. */
    public Operation taking(Schema json) {
        return taking(JSON, json);
    }

    /** The same for requests with a body of this media type, or one that was said before. */
    public Operation taking(String mediaType, Schema schema) {
        return withBody(mediaType, schema, true);
    }

    /** The same for requests with a body of JSON, or none. */
    public Operation takingPerhaps(Schema json) {
        return withBody(JSON, json, false);
    }

    /** The same for requests with this header. */
    public Operation requiringHeader(String name, Schema schema) {
        return with(name, new Parameter("header", true, schema));
    }

    /** The same, where a header makes a difference. */
    public Operation readingHeader(String name, Schema schema) {
        return with(name, new Parameter("header", false, schema));
    }

    /** The same, where a parameter of the query makes a difference. */
    public Operation readingQuery(String name, Schema schema) {
        return with(name, new Parameter("query", false, schema));
    }

    /** The same, where this part of the path may be such texts only. */
    public Operation withPath(String name, Schema schema) {
        return with(name, new Parameter("path", true, schema));
    }

    private Operation with(String name, Parameter parameter) {
        Map<String, Parameter> all = new LinkedHashMap<>(parameters);
        all.put(name, parameter);
        return new Operation(all, body, bodyRequired, responses);
    }

    private Operation with(int status, String mediaType, Schema schema) {
        Response known = responses.get(status);
        Map<String, Schema> content = new LinkedHashMap<>(known == null ? Map.of() : known.content());
        content.put(mediaType, schema);
        return with(new Response(status, content));
    }

    private Operation with(Response response) {
        Map<Integer, Response> all = new TreeMap<>(responses);
        all.put(response.status(), response);
        return new Operation(parameters, body, bodyRequired, all);
    }

    private Operation withBody(String mediaType, Schema schema, boolean required) {
        Map<String, Schema> all = new LinkedHashMap<>(body);
        all.put(mediaType, schema);
        return new Operation(parameters, all, required, responses);
    }

    /** Writes its parameters but those of the path, its body and its responses, as members of an object. */
    public void write(JsonWriter json, Components components) {
        if (!parameters.isEmpty()) {
            char separator = '[';
            json.raw("\"parameters\":");
            for (Map.Entry<String, Parameter> entry : parameters.entrySet()) {
                Parameter parameter = entry.getValue();
                json.raw(separator).raw("{\"name\":").string(entry.getKey());
                json.raw(",\"in\":").string(parameter.in());
                json.raw(",\"required\":").bool(parameter.required());
                json.raw(",\"schema\":");
                parameter.schema().write(json, components);
                json.raw('}');
                separator = ',';
            }
            json.raw("],");
        }
        if (!body.isEmpty()) {
            json.raw("\"requestBody\":{\"required\":").bool(bodyRequired).raw(",\"content\":");
            Response.writeContent(json, body, components);
            json.raw("},");
        }
        json.raw("\"responses\":");
        writeResponses(json, components);
    }

    private void writeResponses(JsonWriter json, Components components) {
        char separator = '{';
        for (Response response : responses.values()) {
            json.raw(separator).string(Integer.toString(response.status())).raw(':');
            response.write(json, components);
            separator = ',';
        }
        json.raw(responses.isEmpty() ? "{\"default\":{\"description\":\"The response, or why there is none\"}}" : "}");
    }
}
