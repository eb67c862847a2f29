// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import gatun.spi.ParameterValue;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The parameters of a whole request: what the protocol gives a meaning, and the rest, which is the backend's. */
final class RequestParameters {
    private static final String RESERVED_PREFIX = "triton_";

    private static final String EMPTY_FINAL = "triton_enable_empty_final_response";

    private RequestParameters() {}

    /** Whether the client wants an empty last response of a decoupled model. Parameters are checked already. */
    static boolean wantsEmptyFinal(InferMessage message) {
        for (InferMessage.Parameter parameter : message.parameters) {
            if (parameter.name().equals(EMPTY_FINAL)) {
                return parameter.value().orElse(null) instanceof ParameterValue.Bool wanted && wanted.value();
            }
        }
        return false;
    }

    /**
     * Puts a message's parameters into a request.
     *
     * @throws GatunException INVALID_ARGUMENT with the protocol's text for the first that is wrong
     */
    static void apply(InferMessage message, InferenceRequest request) {
        for (InferMessage.Parameter parameter : message.parameters) {
            apply(parameter.name(), parameter.value(), request);
        }
    }

    private static void apply(String name, Optional<ParameterValue> given, InferenceRequest request) {
        ParameterValue value = given.orElse(null);
        switch (name) {
            case "sequence_id" -> {
                if (value instanceof ParameterValue.Int64 number) {
                    request.correlationId(number.value());
                } else if (value instanceof ParameterValue.Text text) {
                    request.correlationId(text.value());
                } else {
                    throw wrongType(name, "int64_param or string_param.");
                }
            }
            case "sequence_start" -> request.sequenceStart(flag(name, value));
            case "sequence_end" -> request.sequenceEnd(flag(name, value));
            case EMPTY_FINAL -> flag(name, value);
            case "priority" -> request.priority(priority(value));
            case "timeout" -> {
                if (!(value instanceof ParameterValue.Int64 timeout)) {
                    throw wrongType(name, "int64_param.");
                }
                request.timeoutMicros(Math.max(0, timeout.value()));
            }
            default -> custom(name, value, request);
        }
    }

    private static boolean flag(String name, @Nullable ParameterValue value) {
        if (!(value instanceof ParameterValue.Bool flag)) {
            throw wrongType(name, "bool_param.");
        }
        return flag.value();
    }

    private static long priority(@Nullable ParameterValue value) {
        if (value instanceof ParameterValue.Uint64 priority) {
            return priority.value();
        }
        if (!(value instanceof ParameterValue.Int64 priority)) {
            throw wrongType("priority", "int64_param or uint64_param.");
        }
        if (priority.value() < 0) {
            throw GatunException.invalidArgument("invalid value for 'priority', expected value >= 0.");
        }
        return priority.value();
    }

    private static void custom(String name, @Nullable ParameterValue value, InferenceRequest request) {
        if (name.startsWith(RESERVED_PREFIX)) {
            throw GatunException.invalidArgument(
                    "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following keys"
                            + " starting"
                            + " with 'triton_' are allowed: triton_enable_empty_final_response");
        }
        if (value == null || value instanceof ParameterValue.Uint64) {
            throw wrongType(name, "int64_param, bool_param, or string_param.");
        }
        request.parameter(name, value);
    }

    private static GatunException wrongType(String name, String expected) {
        return GatunException.invalidArgument("invalid value type for '" + name + "' parameter, expected " + expected);
    }
}
