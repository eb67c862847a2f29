// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * No package of the server depends on one that depends on it: each can be read, and moved, after those that it uses.
 */
class PackageCycleIT {
    /** A line of jdeps: {@code gatun.http -> gatun.runtime gatun.runtime}. */
    private static final Pattern DEPENDENCY = Pattern.compile("\\s+(gatun\\.\\S+)\\s+-> (gatun\\.\\S+)\\s.*");

    /** The prefix of jextract's packages, one for each library. */
    private static final String GENERATED = "gatun.bindings.";

    @Test
    void shouldFindNoCycleBetweenPackages() throws Exception {
        Map<String, Set<String>> dependencies = dependencies();
        assertThat(dependencies).containsKeys("gatun.server", "gatun.runtime.server", "gatun.memory.tensor");

        assertThat(cycles(dependencies)).isEmpty();
    }

    @Test
    void shouldTellOfACycleThatLeadsThroughSeveralPackages() {
        assertThat(cycles(Map.of("a", Set.of("b", "e"), "b", Set.of("c"), "c", Set.of("a"), "d", Set.of("a"))))
                .containsExactly("a -> b -> c -> a");
    }

    private static Map<String, Set<String>> dependencies() throws Exception {
        Path folder = Path.of(System.getProperty("gatun.lib"));
        List<String> arguments = new ArrayList<>(
                List.of("--ignore-missing-deps", "--multi-release", "base", "-verbose:package", "--module-path"));
        arguments.add(folder.toString());
        try (Stream<Path> jars = Files.list(folder)) {
            jars.filter(jar -> jar.getFileName().toString().startsWith("gatun-"))
                    .map(Path::toString)
                    .forEach(arguments::add);
        }
        StringWriter out = new StringWriter();
        PrintWriter writer = new PrintWriter(out);
        int status =
                ToolProvider.findFirst("jdeps").orElseThrow().run(writer, writer, arguments.toArray(new String[0]));
        assertThat(status).as(out.toString()).isZero();
        Map<String, Set<String>> dependencies = new TreeMap<>();
        for (String line : out.toString().lines().toList()) {
            Matcher matcher = DEPENDENCY.matcher(line);
            if (matcher.matches() && !matcher.group(1).startsWith(GENERATED)) {
                dependencies
                        .computeIfAbsent(matcher.group(1), name -> new TreeSet<>())
                        .add(matcher.group(2));
            }
        }
        return dependencies;
    }

    /** One cycle for each package that is the first of one, as text. */
    private static List<String> cycles(Map<String, Set<String>> dependencies) {
        List<String> found = new ArrayList<>();
        Set<String> done = new HashSet<>();
        for (String start : new TreeSet<>(dependencies.keySet())) {
            List<String> path = new ArrayList<>(List.of(start));
            if (leadsTo(start, start, dependencies, new HashSet<>(done), path)) {
                found.add(String.join(" -> ", path));
                done.addAll(path);
            }
            done.add(start);
        }
        return found;
    }

    private static boolean leadsTo(
            String end, String from, Map<String, Set<String>> dependencies, Set<String> seen, List<String> path) {
        for (String next : dependencies.getOrDefault(from, Set.of())) {
            if (next.equals(end)) {
                path.add(next);
                return true;
            }
            if (seen.add(next)) {
                path.add(next);
                if (leadsTo(end, next, dependencies, seen, path)) {
                    return true;
                }
                path.removeLast();
            }
        }
        return false;
    }
}
