// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ServerMetadata;
import gatun.wire.v1.RequestStatus;
import gatun.wire.v1.RequestStatusCode;
import java.util.concurrent.atomic.AtomicLong;

/** Makes the statuses of requests, each with a number of its own. Safe for any thread. */
public final class RequestStatuses {
    /** The id of a v1 server that was given none. */
    private static final String STANDARD_ID = "inference:0";

    /** The runtime's prefix of its texts, which v1 servers did not have. */
    private static final String ID_PREFIX = "[request id: ";

    private final String serverId;
    private final AtomicLong lastRequest = new AtomicLong();

    RequestStatuses(String serverId) {
        this.serverId = serverId;
    }

    /** The id of a server: the operator's, or the default of v1 servers. */
    static String serverId(ServerMetadata metadata) {
        return metadata.name().equals(ServerMetadata.STANDARD_NAME) ? STANDARD_ID : metadata.name();
    }

    /** The next request was answered. */
    public RequestStatus success() {
        return next(RequestStatusCode.SUCCESS).build();
    }

    /** The next request was not answered. */
    public RequestStatus failure(GatunException failure) {
        RequestStatusCode code =
                switch (failure.code()) {
                    case UNKNOWN -> RequestStatusCode.UNKNOWN;
                    case INTERNAL -> RequestStatusCode.INTERNAL;
                    case NOT_FOUND -> RequestStatusCode.NOT_FOUND;
                    case INVALID_ARGUMENT -> RequestStatusCode.INVALID_ARG;
                    // There was no code for a client that does not want its response any more.
                    case UNAVAILABLE, CANCELLED -> RequestStatusCode.UNAVAILABLE;
                    case RESOURCE_EXHAUSTED -> RequestStatusCode.INVALID_ARG;
                    // Nor one for a client that may not do what others may.
                    case UNSUPPORTED, PERMISSION_DENIED -> RequestStatusCode.UNSUPPORTED;
                    case ALREADY_EXISTS -> RequestStatusCode.ALREADY_EXISTS;
                };
        return next(code).setMsg(text(failure)).build();
    }

    private RequestStatus.Builder next(RequestStatusCode code) {
        return RequestStatus.newBuilder()
                .setCode(code)
                .setServerId(serverId)
                .setRequestId(lastRequest.incrementAndGet());
    }

    private static String text(GatunException failure) {
        // Sequences had no names then.
        String text = failure.getMessage().replace("non-zero or non-empty correlation ID", "non-zero correlation ID");
        int end = text.startsWith(ID_PREFIX) ? text.indexOf("] ") : -1;
        return end < 0 ? text : text.substring(end + 2);
    }
}
