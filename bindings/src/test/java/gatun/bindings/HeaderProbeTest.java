// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.bindings.onnxruntime.OrtApi;
import java.io.IOException;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Asks the C compiler for every struct size, field offset, table slot and constant in the generated classes. Skipped,
 * with the reason, where there is no compiler or where the header that it would need is not there.
 */
@Timeout(120)
class HeaderProbeTest {
    private static final Path HEADERS =
            Path.of("..", "native-headers").toAbsolutePath().normalize();
    private static final Path C = Path.of("src", "test", "c").toAbsolutePath();
    private static final String COMPILER = System.getenv().getOrDefault("CC", "cc");

    private static final Path POSIX = HEADERS.resolve("posix/posix.h");

    /** The fields that Gatun reads. */
    private static final String STAT_FIELDS = ".* st_(dev|ino|mode|uid|size|blocks)\\)";

    @TempDir
    Path folder;

    @BeforeEach
    void needACompiler() {
        assumeThat(runs(COMPILER, "--version"))
                .as("a C compiler: '" + COMPILER + "' (set CC to name another)")
                .isTrue();
    }

    @Test
    void posixShouldMatchTheSystemsHeaders() throws Exception {
        assertAgree(posix(Machine.current()), new Compiler(List.of(COMPILER), List.of()), POSIX);
    }

    /** The generated classes are those of x86-64; what differs stands in {@link Machine}. */
    @Test
    void posixShouldMatchTheHeadersOfAarch64() throws Exception {
        assumeThat(runs("aarch64-linux-gnu-gcc", "--version"))
                .as("a compiler for aarch64: Debian's gcc-aarch64-linux-gnu and libc6-dev-arm64-cross")
                .isTrue();
        boolean here = Machine.current() == Machine.AARCH64;
        assumeThat(here || runs("qemu-aarch64-static", "--version"))
                .as("an emulator of aarch64: Debian's qemu-user-static")
                .isTrue();
        Compiler compiler = new Compiler(
                List.of("aarch64-linux-gnu-gcc", "-static"), here ? List.of() : List.of("qemu-aarch64-static"));
        assertAgree(posix(Machine.AARCH64), compiler, POSIX);
    }

    /** What Gatun takes for true of a machine. */
    private static Map<String, Long> posix(Machine machine) throws Exception {
        Map<String, Long> facts = generated("posix", Slots.ALL);
        if (machine != Machine.X86_64) {
            facts.keySet().removeIf(question -> question.contains("(struct stat") && !question.matches(STAT_FIELDS));
        }
        facts.put("CONSTANT(SYS_futex)", machine.futexNumber());
        facts.put("CONSTANT(O_NOFOLLOW)", (long) machine.noFollow());
        facts.put("OFFSET(struct stat, st_mode)", machine.modeOffset());
        facts.put("OFFSET(struct stat, st_uid)", machine.uidOffset());
        return facts;
    }

    @Test
    void onnxRuntimeShouldMatchOurHeader() throws Exception {
        assertMatches("onnxruntime", HEADERS.resolve("onnxruntime/onnxruntime.h"), Slots.ALL);
    }

    /** Runs where {@code ORT_HEADER} names ONNX Runtime's own header, which no registry of Java packages has. */
    @Test
    @Tag("onnxruntime-header")
    void onnxRuntimeShouldMatchTheRealHeader() throws Exception {
        assertMatches("onnxruntime", Path.of(System.getenv("ORT_HEADER")), Slots.USED);
    }

    @Test
    void cudaDriverShouldMatchTheRealHeader() throws Exception {
        assertMatches("cuda", cudaHeader("cuda.h"), Slots.ALL);
    }

    @Test
    void cudaRuntimeShouldMatchTheRealHeader() throws Exception {
        assertMatches("cudart", cudaHeader("cuda_runtime_api.h"), Slots.ALL);
    }

    /** The header that the stand-in for CUDA's driver is built with where the real one is not installed. */
    @Test
    void standInsHeaderShouldMatchTheRealHeader() throws Exception {
        Path real = cudaHeader("cuda.h");
        Path ours = C.resolve("cuda-standin/cuda_driver.h");
        List<String> questions = Pattern.compile("^ *(?:#define )?(CUD?A?_\\w+)(?: = | )(?:0x)?\\d", Pattern.MULTILINE)
                .matcher(Files.readString(ours))
                .results()
                .map(found -> "CONSTANT(" + found.group(1) + ")")
                .collect(Collectors.toCollection(ArrayList::new));
        assertThat(questions).hasSizeGreaterThan(100);
        questions.addAll(List.of(
                "SIZE(CUuuid)",
                "SIZE(CUipcMemHandle)",
                "SIZE(CUipcEventHandle)",
                "SIZE(CUdevice)",
                "SIZE(CUdeviceptr)"));
        assertThat(compiled(ours, questions)).isEqualTo(compiled(real, questions));
    }

    /** The compiler compares the stand-in's functions with those that each of the headers declares. */
    @Test
    void standInShouldBeDeclaredByEitherHeader() throws Exception {
        Path folder = C.resolve("cuda-standin");
        List<String> compilation = new ArrayList<>(
                List.of(COMPILER, "-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"));
        try (Stream<Path> files = Files.list(folder)) {
            files.map(Path::toString).filter(file -> file.endsWith(".c")).forEach(compilation::add);
        }
        assertThat(run(compilation)).as("with our header").isEmpty();
        compilation.addAll(
                List.of("-DGATUN_STANDIN_CUDA_H", "-I" + cudaHeader("cuda.h").getParent()));
        assertThat(run(compilation)).as("with CUDA's header").isEmpty();
    }

    @Test
    void tensorFlowShouldMatchOurHeader() throws Exception {
        assertMatches("tensorflow", HEADERS.resolve("tensorflow/tensorflow.h"), Slots.ALL);
    }

    /** Of TensorFlow there are libraries and no headers, so the library itself is asked. */
    @Test
    void tensorFlowsLibraryShouldHaveWhatOurHeaderDeclares() throws Exception {
        Path tensorFlow = LibraryCache.ofUser().folder().resolve("tensorflow/libtensorflow_cc.so.2");
        assumeThat(tensorFlow)
                .as("TensorFlow's library, installed by './gatun install tensorflow'")
                .exists();
        List<String> responses = new ArrayList<>();
        for (String line : Files.readAllLines(HEADERS.resolve("tensorflow/jextract.args"), UTF_8)) {
            if (line.startsWith("--include-function ")) {
                responses.add("function " + line.substring(line.indexOf(' ') + 1) + " 1");
            }
        }
        responses.addAll(List.of(
                "type TF_FLOAT 4",
                "type TF_DOUBLE 8",
                "type TF_INT32 4",
                "type TF_UINT8 1",
                "type TF_INT16 2",
                "type TF_INT8 1",
                "type TF_STRING 0",
                "type TF_INT64 8",
                "type TF_BOOL 1",
                "type TF_BFLOAT16 2",
                "type TF_UINT16 2",
                "type TF_HALF 2",
                "type TF_UINT32 4",
                "type TF_UINT64 8"));
        List<String> questions = responses.stream()
                .map(response -> response.replaceAll("^function (\\w+) .*", "FUNCTION($1)")
                        .replaceAll("^type (\\w+) .*", "TYPE($1)"))
                .toList();
        responses.add("strings as-we-say 1");
        Path list = Files.write(folder.resolve("probe_list.h"), questions, UTF_8);
        Path program = folder.resolve("probe");
        List<String> compilation = List.of(
                COMPILER,
                "-Wall",
                "-I" + HEADERS,
                "-DPROBE_LIST=\"" + list + "\"",
                "-o",
                program.toString(),
                C.resolve("probe/tensorflow.c").toString(),
                "-ldl");
        assertThat(run(compilation)).as("output of the compiler").isEmpty();
        assertThat(run(List.of(program.toString(), tensorFlow.toString())))
                .filteredOn(line -> line.matches("(function|type|strings) .*"))
                .containsExactlyElementsOf(responses);
    }

    private static Path cudaHeader(String name) {
        Path header = Path.of(System.getenv().getOrDefault("CUDA_HOME", "/usr/local/cuda"), "include", name);
        assumeThat(header).as("a CUDA header (set CUDA_HOME to CUDA's folder)").exists();
        assumeThat(contains(header, "13000", "cuda.h"))
                .as("CUDA 13.0, the version that the bindings were generated from")
                .isTrue();
        return header;
    }

    private static boolean contains(Path header, String version, String file) {
        try (Stream<String> lines = Files.lines(header.resolveSibling(file))) {
            return lines.anyMatch(line -> line.startsWith("#define CUDA_VERSION " + version));
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * A C compiler.
     *
     * @param command with the flags that it always needs
     * @param emulator what runs the programs that it makes; empty where this machine does
     */
    private record Compiler(List<String> command, List<String> emulator) {}

    /** Which parts of a struct the header must have. */
    private enum Slots {
        /** All of it, and nothing more. */
        ALL,
        /**
         * The parts that our header took over: it leaves room for other fields, ends early, and has constants of its
         * own.
         */
        USED
    }

    private void assertMatches(String library, Path header, Slots slots) throws Exception {
        assertAgree(generated(library, slots), new Compiler(List.of(COMPILER), List.of()), header);
    }

    private void assertAgree(Map<String, Long> generated, Compiler compiler, Path header) throws Exception {
        assertThat(generated).as("what the generated classes hold").hasSizeGreaterThan(20);
        Map<String, Long> compiled = compiled(compiler, header, generated.keySet());
        assertThat(compiled.keySet()).isEqualTo(generated.keySet());
        // Not a comparison of the maps: its message would hold hundreds of entries that agree.
        assertThat(generated.keySet().stream()
                        .filter(question ->
                                !Objects.requireNonNull(compiled.get(question)).equals(generated.get(question)))
                        .map(question -> question + " is " + compiled.get(question) + " in " + header + ", but "
                                + generated.get(question) + " in the bindings"))
                .isEmpty();
    }

    /** The sizes, offsets and constants of the generated classes, keyed by the line that the probe prints for each. */
    private static Map<String, Long> generated(String library, Slots slots) throws Exception {
        String packageName = "gatun.bindings." + library + ".";
        Class<?> header = Class.forName(packageName + library + "_h");
        Map<String, Long> facts = new TreeMap<>();
        for (String line : Files.readAllLines(HEADERS.resolve(library + "/jextract.args"), UTF_8)) {
            String name = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("--include-constant ")) {
                if (slots == Slots.ALL || !name.startsWith("GATUN_")) {
                    Number value = (Number) header.getMethod(name).invoke(null);
                    facts.put("CONSTANT(" + name + ")", value.longValue());
                }
            } else if (line.startsWith("--include-struct ")) {
                putStruct(facts, "struct " + name, layoutOf(packageName + name).orElseThrow(), slots);
            } else if (line.startsWith("--include-typedef ")) {
                Optional<GroupLayout> layout = layoutOf(packageName + name);
                if (layout.isPresent()) {
                    putStruct(facts, name, layout.get(), slots);
                }
            }
        }
        if (library.equals("onnxruntime")) {
            putStruct(facts, "struct OrtApi", OrtApi.layout(), slots);
        }
        return facts;
    }

    private static Optional<GroupLayout> layoutOf(String className) throws Exception {
        for (Method method : Class.forName(className).getMethods()) {
            if (method.getName().equals("layout")) {
                return Optional.of((GroupLayout) method.invoke(null));
            }
        }
        return Optional.empty();
    }

    private static void putStruct(Map<String, Long> facts, String type, GroupLayout layout, Slots slots) {
        if (slots == Slots.ALL) {
            facts.put("SIZE(" + type + ")", layout.byteSize());
        }
        for (MemoryLayout member : layout.memberLayouts()) {
            Optional<String> name = member.name().filter(field -> slots == Slots.ALL || !field.startsWith("reserved_"));
            if (name.isPresent()) {
                facts.put(
                        "OFFSET(" + type + ", " + name.get() + ")",
                        layout.byteOffset(PathElement.groupElement(name.get())));
            }
        }
    }

    private Map<String, Long> compiled(Path header, Iterable<String> questions) throws Exception {
        return compiled(new Compiler(List.of(COMPILER), List.of()), header, questions);
    }

    /** The same values from a compiler. */
    private Map<String, Long> compiled(Compiler compiler, Path header, Iterable<String> questions) throws Exception {
        Path list = Files.write(folder.resolve("probe_list.h"), questions, UTF_8);
        Path program = folder.resolve("probe");
        List<String> compilation = new ArrayList<>(compiler.command());
        compilation.addAll(List.of(
                "-I" + header.getParent(),
                "-DPROBE_HEADER=\"" + header + "\"",
                "-DPROBE_LIST=\"" + list + "\"",
                "-o",
                program.toString(),
                C.resolve("probe/probe.c").toString()));
        assertThat(run(compilation)).as("output of the compiler").isEmpty();
        List<String> start = new ArrayList<>(compiler.emulator());
        start.add(program.toString());
        Map<String, Long> facts = new TreeMap<>();
        for (String line : run(start)) {
            facts.put(question(line), Long.valueOf(line.substring(line.lastIndexOf(' ') + 1)));
        }
        return facts;
    }

    /**
     * The macro that printed a line: {@code offset struct stat.st_size 48} came from {@code OFFSET(struct stat,
     * st_size)}.
     */
    private static String question(String line) {
        String subject = line.substring(line.indexOf(' ') + 1, line.lastIndexOf(' '));
        if (line.startsWith("size ")) {
            return "SIZE(" + subject + ")";
        }
        if (line.startsWith("constant ")) {
            return "CONSTANT(" + subject + ")";
        }
        int dot = subject.indexOf('.');
        return "OFFSET(" + subject.substring(0, dot) + ", " + subject.substring(dot + 1) + ")";
    }

    private static boolean runs(String... command) {
        try {
            run(List.of(command));
            return true;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private static List<String> run(List<String> command) throws IOException, InterruptedException {
        Path output = Files.createTempFile("gatun-probe", ".txt");
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            assertThat(process.waitFor(60, TimeUnit.SECONDS))
                    .as("%s ends", command)
                    .isTrue();
            List<String> lines = new ArrayList<>(Files.readAllLines(output, UTF_8));
            assertThat(process.exitValue()).as("%s said %s", command, lines).isZero();
            return lines;
        } finally {
            Files.delete(output);
        }
    }
}
