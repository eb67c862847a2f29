// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.connection.Decompression;
import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody.Landed;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.spi.Setting;
import io.helidon.http.HeaderNames;
import java.util.Locale;

/** Lands the bodies of requests, decompressed. Safe for any thread. */
final class RestBodies {
    private static final String GZIP = "gzip";

    private final BufferPool buffers;
    private final long maxByteSize;
    private final Decompression decompression;

    RestBodies(BufferPool buffers, long maxByteSize) {
        this.buffers = buffers;
        this.maxByteSize = maxByteSize;
        this.decompression = new Decompression(buffers, maxByteSize);
    }

    /** Reads the body. The caller owns its buffer. */
    Landed land(Exchange exchange) {
        boolean compressed = exchange.hasHeader(HeaderNames.CONTENT_ENCODING)
                && exchange.header(HeaderNames.CONTENT_ENCODING)
                        .orElse("")
                        .toLowerCase(Locale.ROOT)
                        .contains(GZIP);
        Landed landed = exchange.body().land(buffers, 0, maxByteSize, this::tooLong);
        return compressed ? decompressed(landed) : landed;
    }

    /** Decompresses a body; one that cannot be decompressed counts as empty. */
    private Landed decompressed(Landed landed) {
        try (Buffer compressed = landed.buffer()) {
            return decompression
                    .inflateIfCompressed(compressed.segment().asSlice(landed.offset(), landed.byteSize()), 0)
                    .orElseGet(() -> new Landed(buffers.take(0), 0, 0));
        }
    }

    private GatunException tooLong(long byteSize) {
        return GatunException.invalidArgument("the request body has " + byteSize + " bytes, and at most " + maxByteSize
                + " are allowed; use " + Setting.HTTP_MAX_INPUT_SIZE + " to increase the limit");
    }
}
