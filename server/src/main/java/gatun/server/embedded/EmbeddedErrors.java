// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.tensor.GatunException;
import java.util.function.Supplier;

/** The one table that maps the server's failures to the exceptions of its client. */
final class EmbeddedErrors {
    private EmbeddedErrors() {}

    /** Calls the server, and throws its failure as the client's exception. */
    static <T> T translated(Supplier<T> call) {
        try {
            return call.get();
        } catch (GatunException e) {
            throw of(e);
        }
    }

    /** The client's exception for a failure of the server; the number is gRPC's for the code. */
    static ServerException of(GatunException failure) {
        StatusCode code =
                switch (failure.code()) {
                    case UNKNOWN -> StatusCode.UNKNOWN;
                    case INTERNAL -> StatusCode.INTERNAL;
                    case NOT_FOUND -> StatusCode.NOT_FOUND;
                    case INVALID_ARGUMENT -> StatusCode.INVALID_ARGUMENT;
                    case UNAVAILABLE -> StatusCode.UNAVAILABLE;
                    case RESOURCE_EXHAUSTED -> StatusCode.RESOURCE_EXHAUSTED;
                    case UNSUPPORTED -> StatusCode.UNIMPLEMENTED;
                    case PERMISSION_DENIED -> StatusCode.PERMISSION_DENIED;
                    case ALREADY_EXISTS -> StatusCode.ALREADY_EXISTS;
                    case CANCELLED -> StatusCode.CANCELLED;
                };
        return new ServerException(code, code.number(), failure.getMessage());
    }
}
