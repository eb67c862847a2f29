// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.openapi.Operation;
import gatun.http.openapi.Schema;

/** What the paths of the v1 API take and answer: bodies mostly without a media type, and 400 for every failure. */
final class V1Operations {
    static final Operation CONTROL = Operation.returningNothing().failingSilently(400);

    /** Answers with a message as text, or as the query says. */
    static final Operation TELL = CONTROL.readingQuery(
            "format", Schema.STRING.described("The form of the message: text by default, binary, or json for status"));

    static final Operation HEALTH = CONTROL.withPath("state", Schema.oneOf("live", "ready"));
    static final Operation CUDA_REGISTER = CONTROL.taking(Operation.OCTETS, Schema.BYTES);
    static final Operation INFER = Operation.refusing()
            .orReturning(Operation.OCTETS, Schema.BYTES)
            .taking(Operation.OCTETS, Schema.BYTES)
            .requiringHeader(
                    "NV-InferRequest",
                    Schema.STRING.described("An InferRequestHeader in protobuf's text format; the body is the inputs'"
                            + " data, one behind the other"))
            .readingQuery("format", Schema.STRING.described("The form of the response's header: text, or binary"))
            .failingSilently(400, 413);

    private V1Operations() {}
}
