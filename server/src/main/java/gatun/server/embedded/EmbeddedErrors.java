// SPDX-License-Identifier: Apache-2.0
package gatun.server.embedded;

import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.memory.tensor.GatunException;
import java.util.Arrays;
import java.util.function.Supplier;

/** Turns the server's failures into the exceptions of its client. Stateless. */
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
        int number = failure.code().number();
        StatusCode code = Arrays.stream(StatusCode.values())
                .filter(candidate -> candidate.number() == number)
                .findFirst()
                .orElse(StatusCode.UNKNOWN);
        return new ServerException(code, number, failure.getMessage());
    }
}
