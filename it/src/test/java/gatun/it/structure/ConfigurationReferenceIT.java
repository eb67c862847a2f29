// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import gatun.it.harness.ServerProcess;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.runtime.configuration.UnusedFields;
import gatun.spi.Backend;
import gatun.spi.ConfigurationException;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * The page that tells what becomes of each field of a model's configuration: it has every field of the format, and its
 * answers are those of the server and its engines. A field that is added to the format has no row, and fails.
 */
class ConfigurationReferenceIT {
    private static final Path PAGE = ServerProcess.root().resolve("docs/reference/configuration.md");
    private static final Pattern ROW = Pattern.compile("\\| `(\\w+)` \\| ([^|]*) \\| ([^|]*) \\| ([^|]*) \\|");
    private static final Pattern TEST = Pattern.compile("`(\\w+)`");

    /** What the page says of a field. */
    private record Row(String answer, List<String> tests) {}

    /** The rows by the name of the message and that of the field, in the order of the page. */
    private static final Map<String, Row> ROWS = new LinkedHashMap<>();

    /** By the name of the field's message and its own. */
    private static final Map<String, UnusedFields.Consequence> CONSEQUENCES = UnusedFields.consequences();

    private static final EngineCatalog ENGINE_CATALOG = new EngineCatalog(ServiceLoader.load(Backend.class).stream()
            .map(ServiceLoader.Provider::get)
            .toList());

    /** The engines that use a field which the server leaves to them. */
    private static final Map<String, Set<String>> ENGINES = new TreeMap<>();

    /** The text of each test of the project, by the name of its class, which several modules may have. */
    private static final Map<String, String> TESTS = new TreeMap<>();

    @BeforeAll
    static void read() throws IOException {
        String message = "";
        for (String line : Files.readAllLines(PAGE)) {
            Matcher row = ROW.matcher(line);
            if (line.startsWith("## ")) {
                message = line.substring("## ".length());
            } else if (row.matches()) {
                List<String> tests = TEST.matcher(row.group(4))
                        .results()
                        .map(test -> test.group(1))
                        .toList();
                ROWS.put(message + "." + row.group(1), new Row(row.group(2), tests));
            }
        }
        for (Backend backend : ServiceLoader.load(Backend.class)) {
            backend.configurationFields().forEach(field -> ENGINES.computeIfAbsent(field, key -> new TreeSet<>())
                    .add(backend.name()));
        }
        try (Stream<Path> files = Files.find(ServerProcess.root(), 16, (path, attributes) -> path.toString()
                .matches(".*/src/test/java/.*(Test|IT)\\.java"))) {
            files.filter(path -> !path.toString().contains("/target/"))
                    .forEach(path -> TESTS.merge(
                            path.getFileName().toString().replace(".java", ""), text(path), String::concat));
        }
    }

    private static String text(Path path) {
        try {
            return Files.readString(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The fields from the configuration to one within it; of several ways to the same field, the first. */
    private static Map<String, List<FieldDescriptor>> ways() {
        Map<String, List<FieldDescriptor>> ways = new LinkedHashMap<>();
        walk(ModelConfig.getDescriptor(), List.of(), ways);
        return ways;
    }

    private static void walk(Descriptor message, List<FieldDescriptor> way, Map<String, List<FieldDescriptor>> ways) {
        for (FieldDescriptor field : message.getFields()) {
            List<FieldDescriptor> longer = new ArrayList<>(way);
            longer.add(field);
            if (!message.getOptions().getMapEntry()) {
                ways.putIfAbsent(name(field), longer);
            }
            if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
                walk(field.getMessageType(), longer, ways);
            }
        }
    }

    /** As the page calls it. */
    private static String name(FieldDescriptor field) {
        return field.getFullName().substring(field.getFullName().indexOf('.') + 1);
    }

    /** A configuration in which a field is set, and what is around it. */
    private static ModelConfig setting(List<FieldDescriptor> way) {
        return (ModelConfig) setting(ModelConfig.newBuilder().setName("m"), way).build();
    }

    private static Message.Builder setting(Message.Builder message, List<FieldDescriptor> way) {
        FieldDescriptor field = way.getFirst();
        if (field.getJavaType() == FieldDescriptor.JavaType.MESSAGE) {
            Message.Builder inner = message.newBuilderForField(field);
            if (inner instanceof ModelInput.Builder input) {
                input.setName("x").setDataType(DataType.TYPE_FP32).addDims(1);
            } else if (inner instanceof ModelOutput.Builder output) {
                output.setName("x").setDataType(DataType.TYPE_FP32).addDims(1);
            }
            Message value = way.size() == 1
                    ? inner.build()
                    : setting(inner, way.subList(1, way.size())).build();
            return field.isRepeated() ? message.addRepeatedField(field, value) : message.setField(field, value);
        }
        Object value =
                switch (field.getJavaType()) {
                    case INT -> 1;
                    case LONG -> 1L;
                    case FLOAT -> 1f;
                    case DOUBLE -> 1d;
                    case BOOLEAN -> true;
                    case STRING -> "x";
                    case ENUM -> field.getEnumType().getValues().getLast();
                    case BYTE_STRING, MESSAGE -> throw new AssertionError(field + " has a type without a value here");
                };
        return field.isRepeated() ? message.addRepeatedField(field, value) : message.setField(field, value);
    }

    /** The field on a way that the server leaves without a meaning. */
    private static Optional<FieldDescriptor> unused(List<FieldDescriptor> way) {
        return way.stream()
                .filter(field -> CONSEQUENCES.containsKey(name(field)))
                .findFirst();
    }

    @Test
    void shouldHaveARowForEachFieldOfTheFormatAndNoOther() {
        assertThat(ROWS.keySet()).containsExactlyInAnyOrderElementsOf(ways().keySet());
    }

    @Test
    void shouldLeaveToEnginesWhatTheServerDoesNotUse() {
        assertThat(CONSEQUENCES.keySet()).containsAll(ENGINES.keySet());
    }

    @TestFactory
    Stream<DynamicTest> shouldGiveTheAnswerOfThePage() {
        Map<String, List<FieldDescriptor>> ways = ways();
        return ROWS.entrySet().stream()
                .filter(row -> ways.containsKey(row.getKey()))
                .map(row -> DynamicTest.dynamicTest(
                        row.getKey(), () -> check(row.getKey(), row.getValue(), ways.get(row.getKey()))));
    }

    private static void check(String name, Row row, List<FieldDescriptor> way) {
        Optional<FieldDescriptor> unused = unused(way);
        if (unused.isPresent()) {
            String field = name(unused.get());
            Set<String> engines = ENGINES.getOrDefault(field, Set.of());
            String answer = CONSEQUENCES.get(field) == UnusedFields.Consequence.REFUSED ? "refused" : "no effect";
            String users = engines.stream().map(engine -> "`" + engine + "`").collect(Collectors.joining(", "));
            assertThat(row.answer())
                    .isEqualTo(engines.isEmpty() ? answer : "used by " + users + "; elsewhere " + answer);
            checkUnused(unused.get(), way);
        } else if (row.answer().equals("refused")) {
            assertThat(ModelConfiguration.brokenRules(ENGINE_CATALOG, setting(way)))
                    .as("the rules that a configuration breaks which sets it")
                    .anyMatch(rule ->
                            rule.path().toString().endsWith("." + way.getLast().getName()));
        } else {
            assertThat(row.answer()).isIn("used", "harmless");
            assertThat(UnusedFields.remarks(setting(way), Set.of(), ENGINE_CATALOG))
                    .isEmpty();
        }
        if (row.answer().startsWith("used")) {
            assertThat(row.tests()).as("the tests of " + name).isNotEmpty();
        }
        assertThat(row.tests()).allSatisfy(test -> assertThat(TESTS.getOrDefault(test, "no such test"))
                .as("the text of " + test)
                .containsPattern("(?i)" + way.getLast().getName().replace("_", "_?")));
    }

    private static void checkUnused(FieldDescriptor unused, List<FieldDescriptor> way) {
        ModelConfig config = setting(way.subList(0, way.indexOf(unused) + 1));
        if (CONSEQUENCES.get(name(unused)) == UnusedFields.Consequence.REFUSED) {
            assertThatThrownBy(() -> UnusedFields.remarks(config, Set.of(), ENGINE_CATALOG))
                    .isInstanceOf(ConfigurationException.class)
                    .hasMessageContaining(unused.getName());
        } else {
            assertThat(UnusedFields.remarks(config, Set.of(), ENGINE_CATALOG))
                    .singleElement()
                    .asString()
                    .contains(unused.getName());
        }
        assertThat(UnusedFields.remarks(config, Set.of(name(unused)), ENGINE_CATALOG))
                .as("where an engine uses it")
                .isEmpty();
    }
}
