// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import io.swagger.v3.core.util.Yaml;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What the description says of methods, bodies and statuses, asked of a server for every operation. */
@Timeout(180)
class OpenApiConformanceIT {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** The paths of SageMaker, which has a port of its own. */
    private static final Set<String> HOSTED = Set.of("ping", "invocations", "models");

    /** A stream that does not end before the server does. */
    private static final String EVENTS = "/v2/console/events";

    private static final int FAILURES = 400;

    @TempDir
    private static Path hosted;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(OpenApiConformanceIT::open);

    private static JsonNode description;

    private static ServerProcess open() throws Exception {
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--model-control-mode=explicit",
                "--load-model=*",
                "--allow-client-shm",
                "--allow-sagemaker=true",
                "--sagemaker-port=0",
                "--sagemaker-model-directory=" + hosted);
    }

    @BeforeAll
    static void read() throws IOException {
        description = Yaml.mapper()
                .readTree(ServerProcess.root()
                        .resolve("docs/reference/openapi.yaml")
                        .toFile());
    }

    /** An operation of the description. */
    private record Operation(String path, String method, JsonNode described) {
        boolean isTensorFlows() {
            return path.startsWith("/v1/");
        }

        @Override
        public String toString() {
            return method + " " + path;
        }
    }

    private static List<Operation> operations() {
        List<Operation> operations = new ArrayList<>();
        description.get("paths").properties().forEach(path -> path.getValue().properties().stream()
                .filter(member -> !member.getKey().equals("parameters"))
                .map(member ->
                        new Operation(path.getKey(), member.getKey().toUpperCase(Locale.ROOT), member.getValue()))
                .forEach(operations::add));
        assertThat(operations).hasSizeGreaterThan(90);
        return operations;
    }

    private static HttpResponse<String> send(String method, String path, String body) {
        // No test may take a model away from the others.
        boolean changes = path.contains("/repository/") || path.contains("/modelcontrol/");
        String asked = path.replace("{model}", changes ? "none" : "simple")
                .replace("{version}", "1")
                .replace("{state}", "live")
                .replaceAll("\\{(?:offset|size|device)\\}", "0")
                .replaceAll("\\{[a-z]+\\}", "none");
        URI uri = HOSTED.contains(path.split("/", -1)[1])
                ? URI.create(server.process().ready("sagemaker.url") + asked)
                : server.http(asked);
        return server.http()
                .send(
                        HttpRequest.newBuilder(uri)
                                .method(
                                        method,
                                        body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body)),
                        HttpResponse.BodyHandlers.ofString());
    }

    @Test
    void shouldTellTheMethodsOfEveryPath() {
        Map<String, Set<String>> methods = operations().stream()
                .collect(Collectors.groupingBy(
                        Operation::path, Collectors.mapping(Operation::method, Collectors.toCollection(TreeSet::new))));
        List<String> wrong = new ArrayList<>();
        methods.forEach((path, described) -> {
            // TensorFlow Serving's clients know 400 for another method, and its answer to OPTIONS.
            boolean tensorFlows = path.startsWith("/v1/");
            if (!tensorFlows) {
                described.add("OPTIONS");
                if (described.contains("GET")) {
                    described.add("HEAD");
                }
                HttpResponse<String> options = send("OPTIONS", path, "");
                if (options.statusCode() != 204 || !allowed(options).equals(described)) {
                    wrong.add("OPTIONS " + path + ": " + options + " " + allowed(options));
                }
            }
            HttpResponse<String> other = send("PATCH", path, "");
            if (other.statusCode() != (tensorFlows ? 400 : 405)
                    || !allowed(other).equals(described)) {
                wrong.add("PATCH " + path + ": " + other + " " + allowed(other));
            }
        });
        assertThat(wrong).isEmpty();
    }

    private static Set<String> allowed(HttpResponse<String> response) {
        String methods = response.headers().firstValue("Allow").orElse("");
        return new TreeSet<>(Arrays.asList(methods.split(", ", -1)));
    }

    @Test
    void shouldAnswerHeadAsGetWithoutABody() {
        List<String> wrong = new ArrayList<>();
        for (Operation operation : operations()) {
            if (operation.method().equals("GET")
                    && !operation.isTensorFlows()
                    && !operation.path().equals(EVENTS)) {
                HttpResponse<String> head = send("HEAD", operation.path(), "");
                if (head.statusCode() != send("GET", operation.path(), "").statusCode()) {
                    wrong.add(operation + ": " + head);
                }
                if (!head.body().isEmpty()) {
                    wrong.add(operation + ": " + head.body());
                }
            }
        }
        assertThat(wrong).isEmpty();
    }

    @Test
    void shouldRefuseABodyThatLacksWhatItMustHave() {
        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (Operation operation : operations()) {
            JsonNode body = operation.described().path("requestBody");
            if (!body.path("required").asBoolean()) {
                continue;
            }
            List<String> bodies = new ArrayList<>(List.of(""));
            lacking(schema(body)).forEach(lacking -> bodies.add(lacking.toString()));
            for (String lacking : bodies) {
                HttpResponse<String> response = send(operation.method(), operation.path(), lacking);
                if (response.statusCode() < FAILURES) {
                    wrong.add(operation + " accepts '" + lacking + "'");
                }
                addUndeclared(wrong, operation, response);
                count++;
            }
        }
        assertThat(wrong).isEmpty();
        assertThat(count).isGreaterThan(60);
    }

    @Test
    void shouldDeclareTheResponsesOfEveryOperation() {
        List<String> wrong = new ArrayList<>();
        for (Operation operation : operations()) {
            if (operation.described().get("responses").has("default")) {
                wrong.add(operation + " is not described");
            }
            if (operation.path().equals(EVENTS)) {
                continue;
            }
            JsonNode body = operation.described().path("requestBody");
            List<String> bodies = body.isMissingNode()
                    ? List.of("")
                    : List.of("", "{", "[]", "null", sample(schema(body)).toString());
            for (String sent : bodies) {
                addUndeclared(wrong, operation, send(operation.method(), operation.path(), sent));
            }
            String noVersion = operation.path().replace("{version}", "99999999999999999999");
            addUndeclared(wrong, operation, send(operation.method(), noVersion, ""));
            addUndeclared(
                    wrong, operation, send(operation.method(), operation.path().replace("{model}", "%FF"), ""));
        }
        assertThat(wrong).isEmpty();
    }

    /** Notes a response whose status, or media type, the operation does not have. */
    private static void addUndeclared(List<String> wrong, Operation operation, HttpResponse<String> response) {
        JsonNode declared =
                resolved(operation.described().get("responses").path(Integer.toString(response.statusCode())));
        if (declared.isMissingNode()) {
            wrong.add(operation + ": " + response + " " + response.body());
            return;
        }
        String type = response.headers().firstValue("Content-Type").orElse("").replaceAll(";.*", "");
        JsonNode content = declared.path("content");
        if (!content.isEmpty() && !content.has(type)) {
            wrong.add(operation + ": " + response + " has the media type '" + type + "'");
        }
    }

    private static JsonNode schema(JsonNode body) {
        JsonNode json = body.at("/content/application~1json/schema");
        return json.isMissingNode() ? NODES.objectNode() : json;
    }

    private static JsonNode resolved(JsonNode node) {
        JsonNode reference = node.path("$ref");
        return reference.isMissingNode()
                ? node
                : description.at(reference.asText().substring(1));
    }

    /** A value that the schema allows: with all members that it must have, and with one element in each array. */
    private static JsonNode sample(JsonNode schema) {
        JsonNode known = resolved(schema);
        if (known.has("oneOf")) {
            return sample(known.get("oneOf").get(0));
        }
        if (known.has("anyOf")) {
            return sample(known.get("anyOf").get(0));
        }
        if (known.has("enum")) {
            return known.get("enum").get(0);
        }
        return switch (known.path("type").asText()) {
            case "object" -> {
                ObjectNode object = NODES.objectNode();
                known.path("required")
                        .forEach(name -> object.set(
                                name.asText(), sample(known.get("properties").get(name.asText()))));
                yield object;
            }
            case "array" -> NODES.arrayNode().add(sample(known.get("items")));
            case "boolean" -> NODES.booleanNode(false);
            case "integer", "number" ->
                NODES.numberNode(Math.max(0, known.path("minimum").asLong()));
            default -> NODES.textNode("none");
        };
    }

    /** The sample, each time without one of the members that it must have. */
    private static List<JsonNode> lacking(JsonNode schema) {
        JsonNode known = resolved(schema);
        List<JsonNode> all = new ArrayList<>();
        if (known.has("oneOf")) {
            known.get("oneOf").forEach(kind -> all.addAll(lacking(kind)));
        }
        if (known.path("type").asText().equals("array")) {
            lacking(known.get("items"))
                    .forEach(element -> all.add(NODES.arrayNode().add(element)));
        }
        if (known.path("type").asText().equals("object")) {
            for (JsonNode required : known.path("required")) {
                String name = required.asText();
                ObjectNode object = (ObjectNode) sample(known);
                object.remove(name);
                all.add(object);
                for (JsonNode value : lacking(known.get("properties").get(name))) {
                    ObjectNode other = (ObjectNode) sample(known);
                    other.set(name, value);
                    all.add(other);
                }
            }
        }
        return all;
    }
}
