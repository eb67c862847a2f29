// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.server.ServerResources;
import gatun.spi.Setting;

/** Reads bodies that are one JSON object, in native memory. Safe for any thread. */
public final class JsonBody {
    private final ServerResources server;
    private final long maxByteSize;

    /** Bodies of at most {@code maxByteSize} bytes, or at most {@code server}'s limit for control requests. */
    public JsonBody(ServerResources server, long maxByteSize) {
        this.server = server;
        this.maxByteSize = maxByteSize;
    }

    /** Reads the members of an object that it needs. */
    public interface Members {
        /** Reads, or skips, the value of the member that {@code json} stands at. */
        void member(JsonReader json);

        /** Called when the whole body has been read; it is still there, and {@code json} may go back to its values. */
        default void finish(JsonReader json) {}
    }

    /**
     * Shows {@code members} those of a control request's body, if any. Throws {@link GatunException} RESOURCE_EXHAUSTED
     * beyond its limits, INVALID_ARGUMENT for what is no JSON object.
     */
    public void readControl(Exchange exchange, Members members) {
        try (RequestUsage usage = usage()) {
            readControl(exchange, usage, members);
        }
    }

    /** The same, counted by a usage that the caller owns. */
    void readControl(Exchange exchange, RequestUsage usage, Members members) {
        read(exchange, Math.min(maxByteSize, server.limits().controlByteSize()), usage, members);
    }

    /** As {@link #readControl}, but the body may be as long as any; {@code members} checks the long parts. */
    void read(Exchange exchange, RequestUsage usage, Members members) {
        read(exchange, maxByteSize, usage, members);
    }

    RequestUsage usage() {
        return new RequestUsage(server.limits(), server.heap());
    }

    private void read(Exchange exchange, long byteLimit, RequestUsage usage, Members members) {
        RequestBody.Landed body = exchange.body().land(server.buffers(), 0, byteLimit, this::tooLong);
        try (var buffer = body.buffer()) {
            if (body.byteSize() == 0) {
                return;
            }
            JsonReader json = new JsonReader(buffer.segment(), body.offset(), body.byteSize(), usage);
            try {
                json.enterObject("");
                while (json.nextMember()) {
                    usage.addParameter();
                    members.member(json);
                }
                json.end();
            } catch (GatunException e) {
                throw json.failure(e);
            }
            members.finish(json);
        }
    }

    GatunException tooLong(long byteSize) {
        if (byteSize <= maxByteSize) {
            server.limits().requireControl(byteSize);
        }
        return GatunException.invalidArgument("request JSON size of " + byteSize
                + " bytes exceeds the maximum allowed input size of " + maxByteSize
                + " bytes. Use " + Setting.HTTP_MAX_INPUT_SIZE + " to increase the limit.");
    }
}
