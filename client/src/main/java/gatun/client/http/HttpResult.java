// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.util.Optional;

/** A response with its body decompressed. Immutable, except for the body's bytes. */
public final class HttpResult {
    /** The largest body in bytes: a round number within the limits of a Java array. */
    private static final long LIMIT = 1 << 30;

    private final int status;
    private final String head;
    private final byte[] body;

    private HttpResult(int status, String head, byte[] body) {
        this.status = status;
        this.head = head;
        this.body = body;
    }

    static HttpResult read(HttpConnection connection) throws IOException {
        String head = connection.headText();
        try (WholeBody body = WholeBody.read(connection, LIMIT)) {
            return new HttpResult(connection.head().status(), head, body.bytes().toArray(ValueLayout.JAVA_BYTE));
        }
    }

    /** HTTP's status. */
    public int status() {
        return status;
    }

    /** The value of a header; letters' case in its name does not matter. */
    public Optional<String> header(String name) {
        return ResponseHead.field(head, name);
    }

    /** The body; not a copy. */
    public byte[] body() {
        return body;
    }
}
