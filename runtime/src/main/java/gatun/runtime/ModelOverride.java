// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * The configuration and files that a load takes instead of the repository's. Of a request's, only what
 * {@link gatun.runtime.configuration.RequestedConfiguration} lists is taken.
 *
 * @param config the model's configuration as JSON, in the field names of the proto file; empty to take the repository's
 * @param files contents of files by their path in the model's directory, such as {@code 1/model.onnx}; when there are
 *     any the model is made of them alone, and {@code config} must be given. The memory stays the caller's, and must
 *     not change until the load is done
 * @param ofOperator whether whoever runs the server says this, who may say everything, and not a client
 */
public record ModelOverride(String config, Map<String, MemorySegment> files, boolean ofOperator) {
    /** Takes everything from the repository. */
    public static final ModelOverride NONE = new ModelOverride("", Map.of());

    /** Keeps a copy of the map. */
    public ModelOverride {
        Objects.requireNonNull(config, "config");
        files = Collections.unmodifiableMap(new LinkedHashMap<>(files));
    }

    /** What a request brings. */
    public ModelOverride(String config, Map<String, MemorySegment> files) {
        this(config, files, false);
    }

    /** Whether nothing is overridden. */
    public boolean isEmpty() {
        return config.isEmpty() && files.isEmpty();
    }

    /** A load request names or brings a program, library, path or other thing that only the operator may. */
    public static final class OverrideRefusedException extends GatunException {
        private static final long serialVersionUID = 1;

        /** A refusal to load {@code model}; {@code reason} has field or file, value, what was expected, advice. */
        public OverrideRefusedException(String model, String reason) {
            super(ErrorCode.INVALID_ARGUMENT, "failed to load '" + model + "': " + reason);
        }
    }
}
