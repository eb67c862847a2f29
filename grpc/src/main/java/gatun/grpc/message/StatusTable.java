// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.GatunException;
import io.grpc.Status;

/** The one mapping of the server's errors to gRPC's. */
public final class StatusTable {
    private StatusTable() {}

    /** The status for a failure: code and text. */
    public static Status toStatus(GatunException failure) {
        Status status =
                switch (failure.code()) {
                    case UNKNOWN -> Status.UNKNOWN;
                    case INTERNAL -> Status.INTERNAL;
                    case NOT_FOUND -> Status.NOT_FOUND;
                    case INVALID_ARGUMENT -> Status.INVALID_ARGUMENT;
                    case UNAVAILABLE -> Status.UNAVAILABLE;
                    case RESOURCE_EXHAUSTED -> Status.RESOURCE_EXHAUSTED;
                    case UNSUPPORTED -> Status.UNIMPLEMENTED;
                    case PERMISSION_DENIED -> Status.PERMISSION_DENIED;
                    case ALREADY_EXISTS -> Status.ALREADY_EXISTS;
                    case CANCELLED -> Status.CANCELLED;
                };
        return status.withDescription(failure.getMessage());
    }
}
