// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import gatun.it.harness.ConsoleApi;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The page of the console's API: its routes are those of a server, and it names every member of a response. */
@Timeout(120)
class ConsoleReferenceIT {
    private static final String ROOT = "/v2/console";
    private static final Pattern WORD = Pattern.compile("\\w+");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern PARAMETER = Pattern.compile("\\{(\\w+)}");

    @TempDir
    private static Path folder;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static ServerProcess server;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static HttpApi http;

    @AutoClose
    @SuppressWarnings("NullAway.Init") // by open
    private static SharedObject object;

    @BeforeAll
    static void open() throws Exception {
        ModelRepositoryFolder models = new ModelRepositoryFolder(folder);
        models.simple("simple", "response_cache { enable: true }", 1);
        models.delay("broken", 0);
        models.config("broken", "backend: \"delay\" input [ { name: \"IN\" data_type: TYPE_INT32 } ]");
        server = ServerProcess.launch(
                folder, "--exit-on-error=false", "--allow-client-shm", "--cache-config=local,size=1048576");
        http = new HttpApi(server);
        object = SharedObject.create(4096);
        assertThat(http.register("r", object.key(), "0", "4096").statusCode()).isEqualTo(200);
        http.get(ConsoleApi.path("simple")); // from here on, requests are watched
        assertThat(http.post("/v2/models/simple/infer", SimpleModel.json()).statusCode())
                .isEqualTo(200);
        assertThat(http.post("/v2/models/simple/infer", "{\"inputs\": []}").statusCode())
                .isEqualTo(400);
    }

    private static String row(String path, String method, JsonObject operation) {
        String parameters = PARAMETER
                .matcher(path)
                .results()
                .map(parameter -> "`" + parameter.group(1) + "`")
                .collect(Collectors.joining(", "));
        return "| %s | `%s` | %s | %s | `%s` |"
                .formatted(
                        method.toUpperCase(Locale.ROOT),
                        path,
                        parameters,
                        operation.get("summary").getAsString(),
                        operation.getAsJsonArray("tags").get(0).getAsString());
    }

    @Test
    void shouldListTheRoutesThatThereAre() throws Exception {
        List<String> rows = new ArrayList<>(
                List.of("| method | path | parameters | returns | access group |", "|---|---|---|---|---|"));
        JsonObject paths = new ConsoleApi(http).json("/openapi.json").getAsJsonObject("paths");
        for (Map.Entry<String, JsonElement> path : paths.entrySet()) {
            if (path.getKey().startsWith(ROOT + "/")) {
                for (Map.Entry<String, JsonElement> member :
                        path.getValue().getAsJsonObject().entrySet()) {
                    if (!member.getKey().equals("parameters")) {
                        rows.add(row(
                                path.getKey(),
                                member.getKey(),
                                member.getValue().getAsJsonObject()));
                    }
                }
            }
        }

        ReferencePage.read("console-api.md").withTable("Routes", rows).requireCommitted();
    }

    /** The names of all members of an element, and of what it holds. */
    private static Set<String> members(JsonElement element) {
        Set<String> names = new TreeSet<>();
        if (element.isJsonArray()) {
            element.getAsJsonArray().forEach(inner -> names.addAll(members(inner)));
        } else if (element.isJsonObject()) {
            for (Map.Entry<String, JsonElement> member :
                    element.getAsJsonObject().entrySet()) {
                names.add(member.getKey());
                names.addAll(members(member.getValue()));
            }
        }
        return names;
    }

    @ParameterizedTest
    @CsvSource({
        "Overview, /overview",
        "A model, /models/simple",
        "History, /models/simple/history",
        "Slowest requests, /models/simple/slowest",
        "Memory, /memory",
        "Connections, /connections"
    })
    void shouldNameEachMemberOfTheResponse(String heading, String path) throws Exception {
        String text = String.join("\n", ReferencePage.read("console-api.md").section(heading));
        Set<String> named = CODE.matcher(text)
                .results()
                .map(code -> code.group(1))
                .flatMap(code -> WORD.matcher(code).results().map(MatchResult::group))
                .collect(Collectors.toSet());

        Set<String> members = members(new ConsoleApi(http).json(ROOT + path));

        assertThat(members).isNotEmpty();
        assertThat(named).containsAll(members);
    }
}
