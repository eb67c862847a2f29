// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.calls.CompressionInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import java.util.List;
import java.util.Set;

/** How much inference responses are compressed, for clients that take it, as gRPC's C core understands it. */
public enum ResponseCompression {
    /** Not at all. */
    NONE(""),
    /** Little. */
    LOW("gzip,deflate"),
    /** More. */
    MEDIUM("deflate,gzip"),
    /** As much as there is. */
    HIGH("deflate,gzip");

    /** Best first. */
    private final String encodings;

    ResponseCompression(String encodings) {
        this.encodings = encodings;
    }

    /** {@code service} with the responses of {@code methods} compressed, which are names within the service. */
    public ServerServiceDefinition applyTo(ServerServiceDefinition service, Set<String> methods) {
        return this == NONE
                ? service
                : ServerInterceptors.intercept(
                        service, new CompressionInterceptor(List.of(encodings.split(",", -1)), methods));
    }
}
