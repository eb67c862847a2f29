// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import io.swagger.v3.oas.models.OpenAPI;
import io.swagger.v3.oas.models.media.Schema;
import io.swagger.v3.oas.models.parameters.Parameter;
import io.swagger.v3.parser.OpenAPIV3Parser;
import io.swagger.v3.parser.core.models.SwaggerParseResult;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The descriptions that a server gives of its API, as Swagger's parser reads them. */
@Timeout(120)
class OpenApiServedIT {
    @TempDir
    private static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(OpenApiServedIT::open);

    private static final HttpApi http = server.http();

    private static ServerProcess open() throws Exception {
        new ModelRepositoryFolder(folder).simple("odd'x", "", 1);
        return ServerProcess.launch(
                ServerProcess.exampleModels(),
                "--model-repository=" + folder,
                "--http-restricted-api=metadata:key=secret");
    }

    @Test
    void shouldDescribeAllPaths() {
        OpenAPI all = read(get("/openapi.json"));
        assertThat(all.getPaths())
                .containsKeys(
                        "/v2/models/{model}/infer",
                        "/v1/models/{model}:predict",
                        "/v2/models/{model}/openapi.json",
                        "/v2/console/overview",
                        "/v2/console/models/{model}/versions/{version}/history",
                        "/openapi.json");
        assertThat(all.getPaths().get("/v2/models/{model}/infer").getPost().getTags())
                .containsExactly("inference");
        assertThat(http.post("/openapi.json", "{}").statusCode()).isEqualTo(403);
        assertThat(send(HttpRequest.newBuilder(http.uri("/openapi.json")).DELETE())
                        .statusCode())
                .isEqualTo(405);
    }

    @Test
    void shouldRestrictDescriptionsAsMetadata() {
        assertThat(http.get("/openapi.json").statusCode()).isEqualTo(403);
        assertThat(http.get("/v2/models/simple/openapi.json").statusCode()).isEqualTo(403);
    }

    @Test
    void shouldDescribeAModelsOwnTensors() {
        OpenAPI simple = read(get("/v2/models/simple/openapi.json"));
        assertThat(simple.getPaths()).containsOnlyKeys("/v2/models/simple/infer");
        Schema<?> input = schema(simple, "Input1");
        assertThat(property(input, "name").getEnum()).isEqualTo(List.of("INPUT1"));
        assertThat(property(input, "datatype").getEnum()).isEqualTo(List.of("INT32"));
        assertThat(property(input, "shape").getMinItems()).isEqualTo(2);
        assertThat(property(input, "shape").getDescription()).startsWith("[-1,16]");
        assertThat(property(input, "data").getItems().getType()).isEqualTo("integer");
        assertThat(property(schema(simple, "InferRequest"), "inputs").getMinItems())
                .isEqualTo(2);
        assertThat(property(schema(simple, "InferRequest"), "inputs").getItems().getOneOf())
                .hasSize(2);
        assertThat(property(schema(simple, "Output0"), "name").getEnum()).isEqualTo(List.of("OUTPUT0"));

        OpenAPI texts = read(get("/v2/models/simple_string/versions/1/openapi.json"));
        assertThat(texts.getPaths()).containsOnlyKeys("/v2/models/simple_string/versions/1/infer");
        assertThat(property(schema(texts, "Input0"), "data").getItems().getType())
                .isEqualTo("string");
    }

    @Test
    void shouldDescribeEveryExampleAndNamesThatNoPathCanHave() {
        for (String model : List.of(
                "digits",
                "identity_fp32",
                "repeat_int32",
                "running_sum",
                "simple_ensemble",
                "simple_identity",
                "simple_sequence")) {
            assertThat(read(get("/v2/models/" + model + "/openapi.json")).getPaths())
                    .containsOnlyKeys("/v2/models/" + model + "/infer");
        }
        OpenAPI odd = read(get("/v2/models/odd'x/openapi.json"));
        Parameter name = odd.getPaths()
                .get("/v2/models/{model}/infer")
                .getPost()
                .getParameters()
                .getFirst();
        assertThat(name.getSchema().getEnum().toString()).isEqualTo("[odd'x]");
        assertThat(send(HttpRequest.newBuilder(http.uri("/v2/models/absent/openapi.json")))
                        .statusCode())
                .isEqualTo(404);
    }

    private static HttpResponse<String> send(HttpRequest.Builder request) {
        return http.send(request.header("key", "secret"), HttpResponse.BodyHandlers.ofString());
    }

    private static String get(String path) {
        HttpResponse<String> answer = send(HttpRequest.newBuilder(http.uri(path)));
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.headers().firstValue("content-type")).hasValue("application/json");
        return answer.body();
    }

    private static OpenAPI read(String description) {
        SwaggerParseResult result = new OpenAPIV3Parser().readContents(description);
        assertThat(result.getMessages()).as(description).isEmpty();
        return result.getOpenAPI();
    }

    private static Schema<?> schema(OpenAPI api, String name) {
        return api.getComponents().getSchemas().get(name);
    }

    private static Schema<?> property(Schema<?> schema, String name) {
        return schema.getProperties().get(name);
    }
}
