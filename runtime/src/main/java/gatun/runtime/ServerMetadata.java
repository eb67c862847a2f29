// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.util.List;
import java.util.stream.Stream;

/** The server's metadata: its id, the version of Gatun, and the extensions of the v2 protocol that it serves. */
public record ServerMetadata(String name, String version, List<String> extensions) {
    /** The id of a server that its operator gave none. */
    public static final String STANDARD_NAME = "triton";

    /** The served extensions in the protocol's order; that of GPUs' memory only where there are GPUs. */
    public static List<String> extensions(boolean cuda) {
        Stream<String> ofMemory =
                cuda ? Stream.of("system_shared_memory", "cuda_shared_memory") : Stream.of("system_shared_memory");
        return Stream.of(
                        Stream.of(
                                "classification",
                                "sequence",
                                "model_repository",
                                "model_repository(unload_dependents)",
                                "schedule_policy",
                                "model_configuration"),
                        ofMemory,
                        Stream.of("binary_tensor_data", "parameters", "statistics", "trace", "logging"))
                .flatMap(names -> names)
                .toList();
    }
}
