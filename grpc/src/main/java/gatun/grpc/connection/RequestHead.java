// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.Metadata;

/**
 * The header block that opens a call.
 *
 * @param method the HTTP method
 * @param path the path as the client wrote it
 * @param authority the authority; empty when there was none, or one that is no host
 * @param contentType the content type; empty when there was none
 * @param timeout the {@code grpc-timeout}; empty when there was none
 * @param compression how messages may be compressed
 * @param metadata every field that is not HTTP/2's own
 */
record RequestHead(
        String method,
        String path,
        String authority,
        String contentType,
        String timeout,
        Compression compression,
        Metadata metadata) {
    /**
     * The client's word on compressed messages.
     *
     * @param encoding the {@code grpc-encoding} of its own; {@code identity} when there was none
     * @param acceptEncoding the {@code grpc-accept-encoding}, all of it; empty when there was none
     */
    record Compression(String encoding, String acceptEncoding) {}

    /** The same for another call, which may change its metadata. */
    RequestHead again() {
        Metadata copy = new Metadata();
        copy.merge(metadata);
        return new RequestHead(method, path, authority, contentType, timeout, compression, copy);
    }
}
