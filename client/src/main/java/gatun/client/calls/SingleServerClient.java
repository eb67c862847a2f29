// SPDX-License-Identifier: Apache-2.0
package gatun.client.calls;

import gatun.client.GatunClient;
import gatun.client.InferRequest;
import gatun.client.InferResponse;

/** A client of one server, whose calls may share a deadline with those to other servers. Safe for any thread. */
public interface SingleServerClient extends GatunClient {
    /** As {@link #infer(InferRequest)}, until a deadline that takes the place of the request's own and the client's. */
    InferResponse infer(InferRequest request, Deadline deadline);
}
