// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** This machine in Linux's words, to refuse packages whose instructions it lacks: they would end the process. */
record TargetIsa(String machine, Set<String> abilities) {
    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** In Linux's words, what code needs that PyTorch compiled for one of its sets of instructions. */
    private static final Map<String, List<String>> NEEDS = Map.of(
            "AVX2", List.of("avx2", "fma"),
            "AVX512", List.of("avx512f", "avx512dq", "avx512vl", "avx512bw"),
            "AVX512_VNNI", List.of("avx512_vnni"),
            "AVX512_BF16", List.of("avx512_bf16"),
            "AMX", List.of("amx_tile", "amx_int8", "amx_bf16"),
            "AMX_TILE", List.of("amx_tile"),
            "AMX_FP16", List.of("amx_fp16"));

    TargetIsa {
        abilities = Set.copyOf(abilities);
    }

    static TargetIsa here() {
        String arch = System.getProperty("os.arch", "");
        return new TargetIsa(arch.equals("amd64") ? "x86_64" : arch, processorAbilities());
    }

    private static Set<String> processorAbilities() {
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith("flags"))
                    .findFirst()
                    .map(line -> Set.copyOf(Arrays.asList(
                            line.substring(line.indexOf(':') + 1).strip().split("\\s+", -1))))
                    .orElse(Set.of());
        } catch (IOException e) {
            return Set.of(); // Nothing can be said then.
        }
    }

    /** Checks what a package says of itself. Throws UNSUPPORTED when its code cannot run here. */
    void check(Map<String, String> metadata, String what) {
        String device = metadata.getOrDefault("AOTI_DEVICE_KEY", "cpu");
        if (!device.equals("cpu")) {
            throw unsupported(what + " was compiled for the device '" + device
                    + "', and runs on processors only here; export the module on the CPU");
        }
        String platform = metadata.getOrDefault("AOTI_PLATFORM", "linux");
        if (!platform.equals("linux")) {
            throw unsupported(what + " was compiled for " + platform + "; compile it on Linux");
        }
        checkMachine(metadata.getOrDefault("AOTI_MACHINE", machine), what);
        String sets = metadata.getOrDefault("AOTI_CPU_ISA", "");
        String lacking = Arrays.stream(sets.toUpperCase(Locale.ROOT).split("\\s+", -1))
                .flatMap(set -> NEEDS.getOrDefault(set, List.of()).stream())
                .filter(need -> !abilities.contains(need))
                .distinct()
                .collect(Collectors.joining(", "));
        if (!abilities.isEmpty() && !lacking.isEmpty()) {
            throw unsupported(what + " was compiled for a processor with " + sets + "; this one has no " + lacking
                    + ". Compile it on such a machine, or with the inductor configurations cpp.simdlen and cpp.march"
                    + " for one");
        }
    }

    /** Checks a library's first bytes. Throws UNSUPPORTED for another processor's, INVALID_ARGUMENT for other files. */
    void check(byte[] bytes, String what) {
        ElfHead head = ElfHead.of(bytes)
                .orElseThrow(
                        () -> GatunException.invalidArgument(what + " has a library that is none for Linux; it may be"
                                + " damaged: compile and package it again"));
        checkMachine(head.machine(), what);
    }

    private void checkMachine(String made, String what) {
        if (!made.equals(machine)) {
            throw unsupported(what + " was compiled for " + made + ", this machine is " + machine
                    + "; compile it on a machine like this one");
        }
    }

    private static GatunException unsupported(String text) {
        return new GatunException(ErrorCode.UNSUPPORTED, text);
    }
}
