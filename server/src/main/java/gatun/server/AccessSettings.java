package gatun.server;

import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.HeaderForwarding;
import java.util.Objects;

/**
 * Who may ask for what, and what of their headers models learn.
 *
 * @param http which HTTP requests need a header or a token
 * @param grpc which gRPC calls need a header or a token
 * @param httpForwarding which HTTP headers become parameters of requests
 * @param grpcForwarding which gRPC metadata become parameters of requests
 */
public record AccessSettings(
        ApiAccess http, ApiAccess grpc, HeaderForwarding httpForwarding, HeaderForwarding grpcForwarding) {
    /** Checks that nothing is missing. */
    public AccessSettings {
        Objects.requireNonNull(http, "http");
        Objects.requireNonNull(grpc, "grpc");
        Objects.requireNonNull(httpForwarding, "httpForwarding");
        Objects.requireNonNull(grpcForwarding, "grpcForwarding");
    }
}
