// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.net.URLEncoder;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.stream.StreamSupport;

/** The console's API of a server that is asked by {@code http}. */
public record ConsoleApi(HttpApi http) {
    /** What a path answers with. */
    public HttpResponse<String> get(String path, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(http.uri(path));
        return http.send(
                headers.length == 0 ? request : request.headers(headers), HttpResponse.BodyHandlers.ofString());
    }

    /** The object that a path answers with. */
    public JsonObject json(String path) {
        HttpResponse<String> response = get(path);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
        return JsonParser.parseString(response.body()).getAsJsonObject();
    }

    /** The server at a glance. */
    public JsonObject overview() {
        return json("/v2/console/overview");
    }

    /** The overview's line of a model. */
    public JsonObject model(String name) {
        return find(overview().getAsJsonArray("models"), "name", name).orElseThrow();
    }

    /** The path of all that is known of a model. */
    public static String path(String model) {
        return "/v2/console/models/" + encoded(model);
    }

    /** A name as a part of a path. */
    public static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** The first of {@code objects} that has the value. */
    public static Optional<JsonObject> find(JsonArray objects, String member, String value) {
        return StreamSupport.stream(objects.spliterator(), false)
                .map(JsonElement::getAsJsonObject)
                .filter(object -> object.get(member).getAsString().equals(value))
                .findFirst();
    }
}
