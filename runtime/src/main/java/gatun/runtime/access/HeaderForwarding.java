// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.spi.ParameterValue;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Which headers of a client become parameters of its requests. Immutable. */
public final class HeaderForwarding {
    private static final HeaderForwarding NONE = new HeaderForwarding(Optional.empty());
    private static final String RESERVED_PREFIX = "triton_";
    private static final Set<String> RESERVED = Set.of(
            "sequence_id", "sequence_start", "sequence_end", "priority", "timeout", "headers", "binary_data_output");

    private final Optional<Pattern> names;

    private HeaderForwarding(Optional<Pattern> names) {
        this.names = names;
    }

    /** Forwards nothing. */
    public static HeaderForwarding none() {
        return NONE;
    }

    /** Forwards headers in whose names something matches {@code names}, in any case but after {@code (?-i)}. */
    public static HeaderForwarding of(Pattern names) {
        return new HeaderForwarding(
                Optional.of(Pattern.compile(names.pattern(), names.flags() | Pattern.CASE_INSENSITIVE)));
    }

    /** Whether nothing is forwarded. */
    public boolean isNone() {
        return names.isEmpty();
    }

    /** Makes a header that is to be forwarded a parameter. Throws INVALID_ARGUMENT for the protocol's own names. */
    public void forward(String name, String value, InferenceRequest request) {
        if (names.isEmpty() || !names.get().matcher(name).find()) {
            return;
        }
        if (name.startsWith(RESERVED_PREFIX) || RESERVED.contains(name)) {
            throw GatunException.invalidArgument(
                    "Header '" + name + "' is reserved for Triton usage and cannot be forwarded.");
        }
        request.parameter(name, new ParameterValue.Text(value));
    }

    /** The rules for a protocol's headers: those that requests need, and those that become parameters. Immutable. */
    public record HeaderRules(ApiAccess access, HeaderForwarding forwarding) {
        private static final HeaderRules NONE = new HeaderRules(ApiAccess.open(), HeaderForwarding.none());

        /** Checks that nothing is missing. */
        public HeaderRules {
            Objects.requireNonNull(access, "access");
            Objects.requireNonNull(forwarding, "forwarding");
        }

        /** Nothing is restricted and nothing forwarded. */
        public static HeaderRules none() {
            return NONE;
        }

        /** The same with other restrictions. */
        public HeaderRules withAccess(ApiAccess other) {
            return new HeaderRules(other, forwarding);
        }

        /** The same with other headers forwarded. */
        public HeaderRules withForwarding(HeaderForwarding other) {
            return new HeaderRules(access, other);
        }
    }
}
