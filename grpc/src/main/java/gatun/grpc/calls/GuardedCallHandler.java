// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import io.grpc.Metadata;
import io.grpc.ServerCallHandler;
import io.grpc.Status;
import java.util.Optional;

/** A handler that may refuse a call by its headers alone, before any memory is taken for messages. */
public interface GuardedCallHandler<Q, R> extends ServerCallHandler<Q, R> {
    /** Why a call with these headers is refused; empty if it is not. On the reading thread, which all calls need. */
    Optional<Status> refusal(Metadata headers);
}
