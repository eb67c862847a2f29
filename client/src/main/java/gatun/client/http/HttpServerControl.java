// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import gatun.client.DeadlineException;
import gatun.client.ServerControl;
import gatun.client.ServerException;
import gatun.client.ServerMetadata;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;

/** A server's health and metadata over HTTP. */
final class HttpServerControl implements ServerControl {
    private final ControlCalls calls;

    HttpServerControl(ControlCalls calls) {
        this.calls = calls;
    }

    @Override
    public boolean live() {
        return isHealthy("/v2/health/live", "live");
    }

    @Override
    public boolean ready() {
        return isHealthy("/v2/health/ready", "ready");
    }

    @Override
    public ServerMetadata metadata() {
        return calls.get("/v2", body -> {
            ControlJson.Fields server = ControlJson.object(body);
            return new ServerMetadata(server.text("name"), server.text("version"), server.texts("extensions"));
        });
    }

    private boolean isHealthy(String path, String field) {
        try {
            return calls.getOnce(path, body -> isTrue(body, field));
        } catch (UnreachableException | DeadlineException e) {
            return false;
        } catch (ServerException e) {
            if (e.code() == StatusCode.UNAUTHENTICATED || e.code() == StatusCode.PERMISSION_DENIED) {
                throw e;
            }
            return false;
        }
    }

    /** The status says it; some servers repeat it, or say otherwise, in a body. */
    static boolean isTrue(MemorySegment body, String field) throws IOException {
        return body.byteSize() == 0 || !ControlJson.object(body).isFalse(field);
    }
}
