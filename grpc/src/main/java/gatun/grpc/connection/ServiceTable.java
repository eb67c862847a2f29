// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.ServerMethodDefinition;
import io.grpc.ServerServiceDefinition;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The methods that a listener serves, by path. Immutable. */
final class ServiceTable {
    private final Map<String, ServerMethodDefinition<?, ?>> methods = new HashMap<>();
    private final List<ServerServiceDefinition> services;

    /**
     * The methods of {@code services}.
     *
     * @throws IllegalArgumentException when two have the same name
     */
    ServiceTable(List<ServerServiceDefinition> services) {
        this.services = List.copyOf(services);
        for (ServerServiceDefinition service : services) {
            for (ServerMethodDefinition<?, ?> method : service.getMethods()) {
                String path = "/" + method.getMethodDescriptor().getFullMethodName();
                if (methods.put(path, method) != null) {
                    throw new IllegalArgumentException("two services serve " + path);
                }
            }
        }
    }

    /** The method of that path. */
    Optional<ServerMethodDefinition<?, ?>> find(String path) {
        return Optional.ofNullable(methods.get(path));
    }

    /** The services that this was made from. */
    List<ServerServiceDefinition> services() {
        return services;
    }
}
