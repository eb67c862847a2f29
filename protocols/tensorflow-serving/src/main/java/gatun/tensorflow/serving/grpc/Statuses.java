// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.StatusTable;
import gatun.memory.tensor.GatunException;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.util.function.Supplier;

/** Statuses of failures for TensorFlow Serving's clients: their texts have a bounded length. */
final class Statuses {
    private static final int MAX_TEXT_BYTES = 1024;
    private static final String CUT = "...TRUNCATED";

    private Statuses() {}

    static Status of(GatunException failure) {
        Status status = StatusTable.toStatus(failure);
        return status.withDescription(bounded(failure.getMessage()));
    }

    static <T> void answer(StreamObserver<T> observer, Supplier<T> work) {
        T response;
        try {
            response = work.get();
        } catch (GatunException e) {
            observer.onError(of(e).asRuntimeException());
            return;
        } catch (StatusRuntimeException e) {
            observer.onError(e);
            return;
        }
        observer.onNext(response);
        observer.onCompleted();
    }

    /** The text, cut behind the last character that ends within its first 1024 bytes. */
    static String bounded(String text) {
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        if (utf8.length <= MAX_TEXT_BYTES) {
            return text;
        }
        int end = MAX_TEXT_BYTES;
        while ((utf8[end] & 0xc0) == 0x80) {
            end--;
        }
        return new String(utf8, 0, end, StandardCharsets.UTF_8) + CUT;
    }
}
