package gatun.http.v2;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.http.json.JsonReader;
import gatun.memory.BufferPool;
import gatun.memory.GatunException;

/** Reads the small JSON bodies of requests that control the server. Safe for any thread. */
final class JsonBody {
    private final BufferPool buffers;
    private final long maxByteSize;

    JsonBody(BufferPool buffers, long maxByteSize) {
        this.buffers = buffers;
        this.maxByteSize = maxByteSize;
    }

    /** Takes what it needs from an object's members. */
    interface Members {
        /** Reads, or skips, the value of the member that {@code json} stands at. */
        void member(JsonReader json);
    }

    /** Shows {@code members} each member of the object that is the body; none when there is no body. */
    void read(Exchange exchange, Members members) {
        RequestBody.Landed body = exchange.body().land(buffers, 0, maxByteSize, this::tooLong);
        try (var buffer = body.buffer()) {
            if (body.byteSize() == 0) {
                return;
            }
            JsonReader json = new JsonReader(buffer.segment(), body.offset(), body.byteSize());
            try {
                json.enterObject("");
                while (json.nextMember()) {
                    members.member(json);
                }
                json.end();
            } catch (GatunException e) {
                throw json.failure(e);
            }
        }
    }

    /** How JSON that is too long is refused. */
    GatunException tooLong(long byteSize) {
        return GatunException.invalidArgument("request JSON size of " + byteSize
                + " bytes exceeds the maximum allowed input size of " + maxByteSize
                + " bytes. Use --http-max-input-size to increase the limit.");
    }
}
