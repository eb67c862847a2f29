// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.gpu.CudaClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.NvmlStandIn;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.tensorflow.serving.ServingMetrics;
import gatun.tensorflow.serving.ServingMetrics.Api;
import gatun.tensorflow.serving.ServingMetrics.Entrypoint;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The page of metrics in the documentation, which is made from the pages of servers. One is started for each thing that
 * brings families, and what it shows that those before it do not is what the thing brings.
 */
@Timeout(600)
class MetricReferenceIT {
    /** As many runs as a model needs before it has learned something. */
    private static final int TRIAL_RUNS = 400;

    private static final String NO_GPU_METRICS = "--allow-gpu-metrics=false";

    /** Hides the GPUs that the machine may have. */
    private static final Map<String, String> NO_GPU = Map.of("CUDA_VISIBLE_DEVICES", "");

    private static final Pattern HEAD = Pattern.compile("# (HELP|TYPE) (\\S+) (.*)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_]\\w*)=\"((?:[^\"\\\\]|\\\\.)*)\"");
    private static final Pattern NAME_IN_SOURCE = Pattern.compile("\"((?:nv|gatun|process|jvm)_[a-z_]+)\"");

    /** The labels that tell the lines of a summary or a histogram apart. */
    private static final Set<String> OWN_LABELS = Set.of("le", "quantile");

    /** The labels whose values are always all there, whatever is asked of a server. */
    private static final Set<String> CLOSED_LABELS =
            Set.of("area", "cause", "limit", "reason", "result", "stage", "thread");

    @TempDir
    static Path folder;

    /** A family as pages show it. */
    private static final class Family {
        private String help = "";
        private String type = "";
        private String when = "";
        private final Map<String, Set<String>> valuesByLabel = new TreeMap<>();

        String row(String name) {
            return "| `%s` | %s | %s | %s | %s |".formatted(name, type, labelNames(), help.replace("|", "\\|"), when);
        }

        void add(String label, String value) {
            valuesByLabel.computeIfAbsent(label, key -> new TreeSet<>()).add(value);
        }

        String labelNames() {
            return valuesByLabel.entrySet().stream()
                    .map(label -> "`" + label.getKey() + "`"
                            + (CLOSED_LABELS.contains(label.getKey())
                                    ? " (" + String.join(", ", label.getValue()) + ")"
                                    : ""))
                    .collect(Collectors.joining(", "));
        }
    }

    private final Map<String, Family> families = new TreeMap<>();

    /** The families of a page, by name. */
    private static Map<String, Family> read(String page) {
        Map<String, Family> read = new LinkedHashMap<>();
        Family family = new Family();
        for (String line : page.split("\n")) {
            Matcher head = HEAD.matcher(line);
            if (head.matches()) {
                family = read.computeIfAbsent(head.group(2), name -> new Family());
                if (head.group(1).equals("HELP")) {
                    family.help = head.group(3);
                } else {
                    family.type = head.group(3);
                }
            } else {
                Family owner = family;
                LABEL.matcher(line)
                        .results()
                        .filter(label -> !OWN_LABELS.contains(label.group(1)))
                        .forEach(label -> owner.add(label.group(1), label.group(2)));
            }
        }
        return read;
    }

    private Map<String, Family> pageOf(Path models, Map<String, String> environment, int runs, String... flags)
            throws Exception {
        try (ServerProcess server = ServerProcess.launch(models, environment, flags);
                HttpApi http = new HttpApi(server)) {
            for (int i = 0; i < runs; i++) {
                assertThat(http.post("/v2/models/simple/infer", SimpleModel.json())
                                .statusCode())
                        .isEqualTo(200);
            }
            return read(http.send(HttpRequest.newBuilder(server.metrics()), HttpResponse.BodyHandlers.ofString())
                    .body());
        }
    }

    /** Adds the families of a page, of which the new ones are there {@code when}. */
    private void add(String when, Map<String, Family> page) {
        Set<String> added = new TreeSet<>();
        page.forEach((name, family) -> {
            Family known = families.get(name);
            if (known == null) {
                family.when = when;
                families.put(name, family);
                added.add(name);
            } else {
                family.valuesByLabel.forEach((label, values) -> values.forEach(value -> known.add(label, value)));
            }
        });
        assertThat(added).as("the families that are there %s", when).isNotEmpty();
    }

    /** Notes that the families which are not on a page are there unless the page's flag is given. */
    private void without(String flag, Map<String, Family> page) {
        List<Family> missing = families.entrySet().stream()
                .filter(family -> !page.containsKey(family.getKey()))
                .map(Map.Entry::getValue)
                .filter(family -> family.when.isEmpty())
                .toList();
        assertThat(missing).as("the families that are not there with %s", flag).isNotEmpty();
        missing.forEach(family -> family.when = "unless `" + flag + "`");
    }

    private Map<String, Family> pageOf(Path models, String... flags) throws Exception {
        String[] all =
                Stream.concat(Stream.of(flags), Stream.of(NO_GPU_METRICS)).toArray(String[]::new);
        return pageOf(models, NO_GPU, 1, all);
    }

    private static Path models(String name, String moreConfig) throws IOException {
        Path models = Files.createDirectories(folder.resolve(name));
        new ModelRepositoryFolder(models).simple("simple", moreConfig, 1);
        return models;
    }

    private void collect() throws Exception {
        String summaries = "--metrics-config=summary_latencies=true";
        String cache = "--cache-config=local,size=1048576";
        Path plain = models("plain", "");
        Path cached = models("cached", "response_cache { enable: true }");
        Path twoInstances = models("two", "instance_group [ { kind: KIND_CPU count: 2 } ]");

        add("", pageOf(plain));
        add("`" + summaries + "`", pageOf(plain, summaries));
        add("`--metrics-config=histogram_latencies=true`", pageOf(plain, "--metrics-config=histogram_latencies=true"));
        add("a model has `response_cache`", pageOf(cached, cache));
        add("a model has `response_cache`, and `" + summaries + "`", pageOf(cached, cache, summaries));
        add("`--model-memory-limit`", pageOf(plain, "--model-memory-limit=1000000000"));
        add("`--access-log`", pageOf(plain, "--access-log=" + folder.resolve("access.log")));
        add("a model is in a [process of its own](../guides/workers.md)", pageOf(plain, "--isolate=onnxruntime"));
        Map<String, String> twoCores = new HashMap<>(NO_GPU);
        twoCores.put("GATUN_JAVA_OPTS", "-XX:ActiveProcessorCount=2");
        add(
                "a model has made [trials](../guides/configure.md#what-is-learned-of-runs), unless `--adaptive=false`",
                pageOf(twoInstances, twoCores, TRIAL_RUNS, NO_GPU_METRICS));

        NvmlStandIn.build(folder);
        String driver = CudaClient.environment().get("LD_LIBRARY_PATH");
        Map<String, String> gpu = Map.of("LD_LIBRARY_PATH", folder + ":" + driver);
        add("there is a GPU", pageOf(plain, gpu, 1, NO_GPU_METRICS));
        add("there is a GPU and `libnvidia-ml.so.1`, unless `" + NO_GPU_METRICS + "`", pageOf(plain, gpu, 1));

        without("--metrics-config=counter_latencies=false", pageOf(plain, "--metrics-config=counter_latencies=false"));
        without("--allow-cpu-metrics=false", pageOf(plain, "--allow-cpu-metrics=false"));
    }

    private static List<String> table(Map<String, Family> families, Predicate<String> wanted) {
        List<String> rows = new ArrayList<>(List.of("| name | type | labels | | only if |", "|---|---|---|---|---|"));
        families.forEach((name, family) -> {
            if (wanted.test(name)) {
                rows.add(family.row(name));
            }
        });
        return rows;
    }

    private static List<String> servingTable() {
        ServingMetrics metrics = new ServingMetrics();
        metrics.answered("m", Api.PREDICT, Entrypoint.REST, 1);
        metrics.recordRun("m", Api.PREDICT, 1);
        metrics.examples("m", 1);
        List<String> rows = new ArrayList<>(List.of("| name | type | labels |", "|---|---|---|"));
        read(new String(metrics.page(), StandardCharsets.UTF_8)).forEach((name, family) -> {
            assertThat(family.valuesByLabel).as(name).isNotEmpty();
            rows.add("| `%s` | %s | %s |".formatted(name, family.type, family.labelNames()));
        });
        return rows;
    }

    /** The names, or beginnings of names, that stand in the code of those who publish families. */
    private static Set<String> namesInSource() throws IOException {
        Set<String> names = new TreeSet<>();
        try (Stream<Path> files = Files.find(ServerProcess.root(), 16, (path, attributes) -> path.toString()
                .matches(".*/src/main/java/.*\\.java"))) {
            for (Path file :
                    files.filter(path -> !path.toString().contains("/target/")).toList()) {
                String text = Files.readString(file);
                if (text.contains("import gatun.memory.metrics.") || text.contains("import gatun.spi.ModelMetrics;")) {
                    NAME_IN_SOURCE
                            .matcher(text)
                            .results()
                            .map(name -> name.group(1))
                            .forEach(names::add);
                }
            }
        }
        return names;
    }

    @Test
    void shouldListTheFamiliesThatThereAre() throws Exception {
        collect();

        ReferencePage.read("metrics.md")
                .withTable("Gatun and its models", table(families, name -> name.matches("(nv|gatun)_.*")))
                .withTable("The process and its JVM", table(families, name -> name.matches("(process|jvm)_.*")))
                .withTable("TensorFlow Serving's", servingTable())
                .requireCommitted();
        assertThat(families.keySet()).allMatch(name -> name.matches("(nv|gatun|process|jvm)_.*"));
        assertThat(namesInSource())
                .as("the names in the code; start a server here that shows the missing ones")
                .hasSizeGreaterThan(50)
                .allMatch(name -> families.keySet().stream().anyMatch(family -> family.startsWith(name)));
    }
}
