// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.headers;

import gatun.fuzz.FuzzInput;
import gatun.grpc.calls.CallAdmission.CallTimeout;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.grpc.headers.HeaderBlockReader.RequestHead;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Header blocks of one connection, each behind a byte with its length: however often a block is repeated, and whatever
 * was before, a decoder goes on, refuses the call or ends the connection.
 */
public final class HeaderBlockFuzz {
    private static final int SIZE_LIMIT = 8192;

    private HeaderBlockFuzz() {}

    /** Decodes the input. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> decode(input));
    }

    private static void decode(byte[] input) {
        HeaderDecoder decoder = new HeaderDecoder(SIZE_LIMIT);
        int at = 0;
        while (at < input.length) {
            int begin = at + 1;
            at = Math.min(input.length, begin + (input[at] & 0xff));
            ByteBuffer block = ByteBuffer.wrap(Arrays.copyOfRange(input, begin, at));
            try {
                RequestHead head = decoder.decode(block);
                FuzzInput.require(head.path() != null && head.method() != null, "a call without path or method");
                CallTimeout.parseNanos(head.timeout())
                        .ifPresent(nanos -> FuzzInput.require(nanos >= 0, "a timeout in the past"));
            } catch (HeaderDecoder.MalformedHeaders | HeaderDecoder.RefusedHeaders e) {
                FuzzInput.require(e.getMessage() != null, "a refusal says why");
            } catch (ConnectionError e) {
                return;
            }
        }
    }
}
