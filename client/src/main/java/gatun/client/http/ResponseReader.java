// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import java.io.IOException;

/** Reads a response, whose head was read. */
@FunctionalInterface
interface ResponseReader<T> {
    /** Reads the body, wholly where the connection is to be used again. Throws {@link gatun.client.ClientException}. */
    T read(HttpConnection connection) throws IOException;
}
