// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.openapi.Components;
import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;
import gatun.http.routes.PathValues.PathPattern;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.Status;
import java.nio.charset.StandardCharsets;
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
    private static final Pattern PARAMETER = Pattern.compile("\\{([a-z]+)(?::([a-z]+))?\\}");
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
        OpenApiJson self = of(title, version, tables);
        return new RouteTable(
                PATH, List.of(row((exchange, path) -> self.answer(exchange))), access, StandardConventions.INSTANCE);
    }

    /** The description of {@code tables} and its own path, as {@link #table} answers it. */
    public static String describe(String title, String version, List<RouteTable> tables) {
        return new String(of(title, version, tables).describe(), StandardCharsets.UTF_8);
    }

    private static OpenApiJson of(String title, String version, List<RouteTable> tables) {
        List<Route> rows = new ArrayList<>();
        tables.forEach(table -> rows.addAll(table.rows()));
        rows.add(row((exchange, path) -> {}));
        return new OpenApiJson(title, version, rows);
    }

    private static Route row(RouteHandler handler) {
        return Route.get(
                PATH, ApiGroup.METADATA, "This description of all paths", Operation.returning(Schema.OBJECT), handler);
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
                                PARAMETER.matcher(pattern).replaceAll("{$1}"),
                                path -> new DescribedPath(path, pattern, new LinkedHashMap<>()))
                        .operations()
                        .putIfAbsent(row.method().text().toLowerCase(Locale.ROOT), row);
            }
        }
        Components components = new Components();
        JsonWriter json = new JsonWriter();
        json.raw("{\"openapi\":\"3.0.3\",\"info\":{\"title\":").string(title);
        json.raw(",\"version\":").string(version);
        json.raw("},\"paths\":{");
        String comma = "";
        for (DescribedPath path : paths.values()) {
            json.raw(comma).string(path.path());
            json.raw(":{");
            writeParameters(json, path.pattern(), components);
            writeOperations(json, path.operations(), components);
            json.raw('}');
            comma = ",";
        }
        json.raw("},\"components\":");
        components.write(json);
        json.raw('}');
        return Arrays.copyOf(json.array(), json.size());
    }

    private static void writeParameters(JsonWriter json, String pattern, Components components) {
        Matcher parameter = PARAMETER.matcher(pattern);
        boolean any = false;
        while (parameter.find()) {
            json.raw(any ? "," : "\"parameters\":[").raw("{\"name\":").string(parameter.group(1));
            json.raw(",\"in\":\"path\",\"required\":true,\"schema\":");
            PathPattern.Kind.of(parameter.group(2)).schema().write(json, components);
            json.raw('}');
            any = true;
        }
        json.raw(any ? "]," : "");
    }

    private static void writeOperations(JsonWriter json, Map<String, Route> operations, Components components) {
        String comma = "";
        for (Map.Entry<String, Route> operation : operations.entrySet()) {
            Route route = operation.getValue();
            json.raw(comma).string(operation.getKey());
            json.raw(":{\"tags\":[").string(route.group().wireName());
            json.raw("],\"summary\":").string(route.summary()).raw(',');
            route.operation().write(json, components);
            json.raw('}');
            comma = ",";
        }
    }
}
