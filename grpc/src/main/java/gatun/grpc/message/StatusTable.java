// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import gatun.memory.tensor.GatunException;
import io.grpc.Status;

/** The one mapping of the server's errors to gRPC's. */
public final class StatusTable {
    private StatusTable() {}

    /** The status for a failure: code and text. */
    public static Status toStatus(GatunException failure) {
        return Status.fromCodeValue(failure.code().number()).withDescription(failure.getMessage());
    }
}
