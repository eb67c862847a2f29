// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.routes.PathValues.PathPattern;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * {@code GET /openapi.json}: a listener's tables in <a href="https://spec.openapis.org/oas/v3.0.3">OpenAPI 3.0</a>,
 * which most programs read. Made when it is first asked for, and once as a rule.
 */
public final class OpenApiJson {
    private static final String PATH = "/openapi.json";
    private static final ResponseHeaders HEADERS =
            ResponseHeaders.of(ResponseHeaders.constant(Status.OK_200, "Content-Type: application/json"));

    private final String title;
    private final String version;
    private final List<Route> rows;
    private volatile byte @Nullable [] description;

    /** A path as it is described. */
    private record DescribedPath(String path, String pattern, Map<String, Route> operations) {}

    private OpenApiJson(String title, String version, List<Route> rows) {
        this.title = title;
        this.version = version;
        this.rows = List.copyOf(rows);
    }

    /** A table with the one path of the description of {@code tables} and itself, of this title and version. */
    public static RouteTable table(String title, String version, List<RouteTable> tables, ApiAccess access) {
        List<Route> rows = new ArrayList<>();
        tables.forEach(table -> rows.addAll(table.rows()));
        rows.add(row((exchange, path) -> {}));
        OpenApiJson self = new OpenApiJson(title, version, rows);
        return new RouteTable(
                PATH, List.of(row((exchange, path) -> self.answer(exchange))), access, StandardConventions.INSTANCE);
    }

    private static Route row(RouteHandler handler) {
        return Route.get(PATH, ApiGroup.METADATA, "This description of all paths", handler);
    }

    private void answer(Exchange exchange) {
        byte[] text = description;
        if (text == null) {
            text = describe();
            description = text;
        }
        exchange.answer(HEADERS, exchange.json(HEADERS).raw(text, text.length));
    }

    private byte[] describe() {
        // Rows of several protocols may have one path in common, and write its parameters differently.
        Map<String, DescribedPath> paths = new LinkedHashMap<>();
        for (Route row : rows) {
            for (String pattern : PathPattern.expand(row.path())) {
                paths.computeIfAbsent(
                                OpenApi.PARAMETER.matcher(pattern).replaceAll("{$1}"),
                                path -> new DescribedPath(path, pattern, new LinkedHashMap<>()))
                        .operations()
                        .putIfAbsent(row.method().text().toLowerCase(Locale.ROOT), row);
            }
        }
        JsonWriter json = new JsonWriter();
        json.raw("{\"openapi\":\"3.0.3\",\"info\":{\"title\":").string(title);
        json.raw(",\"version\":").string(version);
        json.raw("},\"paths\":{");
        String comma = "";
        for (DescribedPath path : paths.values()) {
            json.raw(comma).string(path.path());
            json.raw(":{");
            writeParameters(json, path.pattern());
            writeOperations(json, path.operations());
            json.raw('}');
            comma = ",";
        }
        json.raw("}}");
        return Arrays.copyOf(json.array(), json.size());
    }

    private static void writeParameters(JsonWriter json, String pattern) {
        Matcher parameter = OpenApi.PARAMETER.matcher(pattern);
        boolean any = false;
        while (parameter.find()) {
            json.raw(any ? "," : "\"parameters\":[").raw("{\"name\":").string(parameter.group(1));
            json.raw(",\"in\":\"path\",\"required\":true,\"schema\":{\"type\":\"")
                    .raw("number".equals(parameter.group(2)) ? "integer" : "string")
                    .raw("\"}}");
            any = true;
        }
        json.raw(any ? "]," : "");
    }

    private static void writeOperations(JsonWriter json, Map<String, Route> operations) {
        String comma = "";
        for (Map.Entry<String, Route> operation : operations.entrySet()) {
            Route route = operation.getValue();
            json.raw(comma).string(operation.getKey());
            json.raw(":{\"tags\":[").string(route.group().wireName());
            json.raw("],\"summary\":").string(route.summary());
            json.raw(",\"responses\":{\"default\":{\"description\":\"The response, or why there is none\"}}}");
            comma = ",";
        }
    }

    /** Describes tables of routes in <a href="https://spec.openapis.org/oas/v3.1.0">OpenAPI 3.1</a>, as YAML. */
    public static final class OpenApi {
        static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)(?::([a-z]+))?\\}");

        private OpenApi() {}

        /** The description of {@code tables}, of an API of this title and version. */
        public static String describe(String title, String version, List<RouteTable> tables) {
            Map<String, List<Route>> paths = new LinkedHashMap<>();
            for (RouteTable table : tables) {
                for (Route route : table.rows()) {
                    for (String path : PathPattern.expand(route.path())) {
                        paths.computeIfAbsent(path, none -> new ArrayList<>()).add(route);
                    }
                }
            }
            StringBuilder yaml = new StringBuilder();
            yaml.append("openapi: 3.1.0\ninfo:\n  title: ").append(title).append("\n  version: \"");
            yaml.append(version).append("\"\npaths:\n");
            paths.forEach((path, routes) -> describe(yaml, path, routes));
            return yaml.toString();
        }

        private static void describe(StringBuilder yaml, String path, List<Route> routes) {
            yaml.append("  \"")
                    .append(PARAMETER.matcher(path).replaceAll("{$1}"))
                    .append("\":\n");
            Matcher parameter = PARAMETER.matcher(path);
            boolean first = true;
            while (parameter.find()) {
                yaml.append(first ? "    parameters:\n" : "");
                first = false;
                boolean number = "number".equals(parameter.group(2));
                yaml.append("      - {name: ")
                        .append(parameter.group(1))
                        .append(", in: path, required: true, schema: {type: ");
                yaml.append(number ? "integer" : "string").append("}}\n");
            }
            for (Route route : routes) {
                yaml.append("    ")
                        .append(route.method().text().toLowerCase(Locale.ROOT))
                        .append(":\n");
                yaml.append("      tags: [").append(route.group().wireName()).append("]\n");
                yaml.append("      summary: \"").append(route.summary()).append("\"\n");
                yaml.append("      responses: {default: {description: \"The response, or why there is none.\"}}\n");
            }
        }
    }
}
