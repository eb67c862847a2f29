// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * No package of the server depends on one that depends on it: each can be read, and moved, after those that it uses. Within
 * a package few types depend on each other.
 */
class DependencyCycleIT {
    /** How many types of a package may depend on each other. Nested types count with their outermost one. */
    private static final int LARGEST_CYCLE = 6;

    /** A line of jdeps: {@code gatun.http.HttpListener$1 -> gatun.runtime.Origin gatun.runtime}. */
    private static final Pattern DEPENDENCY =
            Pattern.compile("\\s+(gatun\\.[^\\s$]+)\\S*\\s+-> (gatun\\.[^\\s$]+)\\S*\\s.*");

    /** The prefixes of the packages that jextract and protoc write. */
    private static final Pattern GENERATED = Pattern.compile("gatun\\.(bindings|wire)\\..*");

    private static Map<String, Set<String>> types;

    @BeforeAll
    static void readDependencies() throws Exception {
        Path folder = Path.of(System.getProperty("gatun.lib"));
        List<String> arguments = new ArrayList<>(List.of(
                "--ignore-missing-deps",
                "--multi-release",
                "base",
                "-verbose:class",
                "-filter:none",
                "--module-path",
                folder.toString()));
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
        types = new TreeMap<>();
        out.toString().lines().map(DEPENDENCY::matcher).filter(Matcher::matches).forEach(line -> {
            if (!GENERATED.matcher(line.group(1)).matches()) {
                types.computeIfAbsent(line.group(1), name -> new TreeSet<>()).add(line.group(2));
            }
        });
    }

    @Test
    void shouldFindNoCycleBetweenPackages() {
        Map<String, Set<String>> packages = new TreeMap<>();
        types.forEach((type, used) -> used.forEach(other -> {
            if (!packageOf(type).equals(packageOf(other))) {
                packages.computeIfAbsent(packageOf(type), name -> new TreeSet<>())
                        .add(packageOf(other));
            }
        }));
        assertThat(packages).containsKeys("gatun.server", "gatun.runtime.server", "gatun.memory.tensor");

        assertThat(cycles(packages)).isEmpty();
    }

    @Test
    void shouldFindFewTypesOfAPackageThatDependOnEachOther() {
        Map<String, Set<String>> within = new TreeMap<>();
        types.forEach((type, used) -> {
            Set<String> ofPackage = new TreeSet<>(used);
            ofPackage.removeIf(other -> !packageOf(other).equals(packageOf(type)));
            within.put(type, ofPackage);
        });
        assertThat(cycles(within))
                .filteredOn(cycle -> cycle.size() > LARGEST_CYCLE)
                .isEmpty();
    }

    @Test
    void shouldTellOfACycleThatLeadsThroughSeveralNames() {
        assertThat(cycles(Map.of("a", Set.of("b", "e"), "b", Set.of("c"), "c", Set.of("a"), "d", Set.of("a"))))
                .containsExactly(Set.of("a", "b", "c"));
    }

    private static String packageOf(String type) {
        return type.substring(0, type.lastIndexOf('.'));
    }

    /** The largest sets of names that all depend on each other, of two at least. */
    private static Collection<Set<String>> cycles(Map<String, Set<String>> dependencies) {
        Map<String, Set<String>> reached = new TreeMap<>();
        dependencies.keySet().forEach(name -> reached.put(name, reached(name, dependencies)));
        Map<String, Set<String>> cycles = new TreeMap<>();
        reached.forEach((name, others) -> {
            Set<String> cycle = new TreeSet<>(others);
            cycle.removeIf(other -> !reached.getOrDefault(other, Set.of()).contains(name));
            if (cycle.size() > 1) {
                cycles.put(String.join(" ", cycle), cycle);
            }
        });
        return cycles.values();
    }

    private static Set<String> reached(String from, Map<String, Set<String>> dependencies) {
        Set<String> reached = new TreeSet<>();
        Deque<String> left = new ArrayDeque<>(dependencies.getOrDefault(from, Set.of()));
        while (!left.isEmpty()) {
            String next = left.remove();
            if (reached.add(next)) {
                left.addAll(dependencies.getOrDefault(next, Set.of()));
            }
        }
        return reached;
    }
}
