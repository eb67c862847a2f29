// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import io.grpc.Metadata;
import java.util.List;

/**
 * The header block that opens a call, or several.
 *
 * @param method the HTTP method
 * @param path the path as the client wrote it
 * @param authority the authority; empty when there was none, or one that is no host
 * @param route where the block says that the call comes from and goes to
 * @param contentType the content type; empty when there was none
 * @param timeout the {@code grpc-timeout}; empty when there was none
 * @param compression how messages may be compressed
 * @param metadata every field that is not HTTP/2's own; only read, for handlers get a {@linkplain #metadataCopy copy}
 */
public record RequestHead(
        String method,
        String path,
        String authority,
        Route route,
        String contentType,
        String timeout,
        Compression compression,
        Metadata metadata) {
    /**
     * The way of a call, as its header block tells it.
     *
     * @param hosts the hosts that it is for, which are one unless the client contradicts itself; an empty text stands
     *     for an authority that is no host
     * @param forwarded whether a proxy says that the call came through it
     */
    public record Route(List<String> hosts, boolean forwarded) {}

    /**
     * The client's word on compressed messages.
     *
     * @param encoding the {@code grpc-encoding} of its own; {@code identity} when there was none
     * @param acceptEncoding the {@code grpc-accept-encoding}, all of it; empty when there was none
     */
    public record Compression(String encoding, String acceptEncoding) {}

    /** The metadata for a handler, which may change it: other calls have the same head. */
    public Metadata metadataCopy() {
        Metadata copy = new Metadata();
        copy.merge(metadata);
        return copy;
    }
}
