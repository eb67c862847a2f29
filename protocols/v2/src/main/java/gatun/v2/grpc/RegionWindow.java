// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.memory.tensor.GatunException;
import gatun.spi.ParameterValue;
import java.util.List;
import java.util.Optional;

/**
 * The shared memory that a tensor's parameters name.
 *
 * @param region the region's name
 * @param offset where the tensor begins in it, an unsigned number
 * @param byteSize how many bytes it has, an unsigned number
 */
record RegionWindow(String region, long offset, long byteSize) {
    private static final String REGION = "shared_memory_region";
    private static final String OFFSET = "shared_memory_offset";
    private static final String BYTE_SIZE = "shared_memory_byte_size";

    /**
     * The window that {@code parameters} name, or none.
     *
     * @throws GatunException INVALID_ARGUMENT with the protocol's text when they are not as they must be
     */
    static Optional<RegionWindow> of(List<InferMessage.Parameter> parameters, String tensor) {
        if (parameters.isEmpty()) {
            return Optional.empty();
        }
        Optional<InferMessage.Parameter> region = find(parameters, REGION);
        Optional<InferMessage.Parameter> offset = find(parameters, OFFSET);
        Optional<InferMessage.Parameter> byteSize = find(parameters, BYTE_SIZE);
        String name = "";
        if (region.isPresent()) {
            if (!(region.get().value().orElse(null) instanceof ParameterValue.Text text)) {
                throw wrongType(REGION, tensor, "string_param.");
            }
            name = text.value();
        }
        long start = offset.isPresent() ? number(offset.get(), tensor) : 0;
        long size = byteSize.isPresent() ? number(byteSize.get(), tensor) : 0;
        if (region.isEmpty()) {
            requireAbsent(offset, tensor);
            requireAbsent(byteSize, tensor);
            return Optional.empty();
        }
        if (byteSize.isEmpty()) {
            throw GatunException.invalidArgument("'" + BYTE_SIZE + "' must be specified along with '" + REGION
                    + "' parameter for tensor '" + tensor + "'");
        }
        return Optional.of(new RegionWindow(name, start, size));
    }

    private static Optional<InferMessage.Parameter> find(List<InferMessage.Parameter> parameters, String name) {
        for (InferMessage.Parameter parameter : parameters) {
            if (parameter.name().equals(name)) {
                return Optional.of(parameter);
            }
        }
        return Optional.empty();
    }

    private static long number(InferMessage.Parameter parameter, String tensor) {
        if (!(parameter.value().orElse(null) instanceof ParameterValue.Int64 number)) {
            throw wrongType(parameter.name(), tensor, "int64_param.");
        }
        return number.value();
    }

    private static void requireAbsent(Optional<InferMessage.Parameter> parameter, String tensor) {
        if (parameter.isPresent()) {
            throw GatunException.invalidArgument("'" + parameter.get().name() + "' can not be specified without '"
                    + REGION + "' parameter for tensor '" + tensor + "'");
        }
    }

    private static GatunException wrongType(String parameter, String tensor, String expected) {
        return GatunException.invalidArgument("invalid value type for '" + parameter + "' parameter for tensor '"
                + tensor + "', expected " + expected);
    }
}
