// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.http.routes.PathValues;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.v1.SharedMemoryControl;
import gatun.wire.v1.SharedMemoryStatus;
import java.lang.foreign.ValueLayout;

/** Registration of shared memory. Safe for any thread. */
final class SharedMemoryRoutes {
    /** More than any handle has, in bytes: which size it has to have is not for this to know. */
    private static final int HANDLE_LIMIT = 1024;

    private final BufferPool buffers;
    private final SharedMemoryControl regions;
    private final ControlRoute control;

    SharedMemoryRoutes(BufferPool buffers, SharedMemoryControl regions, ControlRoute control) {
        this.buffers = buffers;
        this.regions = regions;
        this.control = control;
    }

    void status(Exchange exchange, PathValues path) {
        control.answer(
                exchange,
                () -> MessageBody.of(
                        SharedMemoryStatus.newBuilder()
                                .addAllSharedMemoryRegion(regions.regions(exchange.location()))
                                .build(),
                        exchange));
    }

    void registerSystem(Exchange exchange, PathValues path) {
        change(
                exchange,
                () -> regions.registerSystem(
                        exchange.location(),
                        path.value("region"),
                        "/" + path.value("key"),
                        number(path, "offset"),
                        number(path, "size")));
    }

    void registerCuda(Exchange exchange, PathValues path) {
        change(
                exchange,
                () -> regions.registerCuda(
                        exchange.location(),
                        path.value("region"),
                        handle(exchange),
                        number(path, "device"),
                        number(path, "size")));
    }

    void unregister(Exchange exchange, PathValues path) {
        change(exchange, () -> regions.unregister(exchange.location(), path.value("region")));
    }

    void unregisterAll(Exchange exchange, PathValues path) {
        change(exchange, () -> regions.unregisterAll(exchange.location()));
    }

    private void change(Exchange exchange, Runnable change) {
        control.answer(exchange, () -> {
            change.run();
            return MessageBody.NONE;
        });
    }

    /** The body. A longer one than any handle is none, and is not read. */
    private byte[] handle(Exchange exchange) {
        RequestBody.Landed body = exchange.body().land(buffers, 0, HANDLE_LIMIT, SharedMemoryRoutes::tooLong);
        try (Buffer buffer = body.buffer()) {
            return buffer.segment().asSlice(body.offset(), body.byteSize()).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private static GatunException tooLong(long byteSize) {
        return GatunException.invalidArgument("a body of " + byteSize
                + " bytes cannot be a handle of CUDA: expected the 64 bytes of a cudaIpcMemHandle_t");
    }

    private static long number(PathValues path, String name) {
        String digits = path.value(name);
        try {
            return Long.parseUnsignedLong(digits);
        } catch (NumberFormatException e) {
            throw new GatunException(
                    ErrorCode.INVALID_ARGUMENT,
                    "the number " + digits + " is too large: expected at most 18446744073709551615",
                    e);
        }
    }
}
