// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Describes tables of routes in the words of <a href="https://spec.openapis.org/oas/v3.1.0">OpenAPI 3.1</a>, as YAML.
 */
public final class OpenApi {
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
        yaml.append("  \"").append(PARAMETER.matcher(path).replaceAll("{$1}")).append("\":\n");
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
