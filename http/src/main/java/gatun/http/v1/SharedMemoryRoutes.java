// SPDX-License-Identifier: Apache-2.0
package gatun.http.v1;

import gatun.http.connection.Exchange;
import gatun.http.connection.RequestBody;
import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.protocol.v1.SharedMemoryStatus;
import gatun.v1.SharedMemoryControl;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Paths behind {@code /api/sharedmemorycontrol}. A key keeps its slash, so that two stand before it. Safe for any thread. */
final class SharedMemoryRoutes {
    private static final Pattern REGISTER = Pattern.compile("/register/([^/]+)/(/[^/]+)/([0-9]+)/([0-9]+)");
    private static final Pattern CUDA_REGISTER = Pattern.compile("/cudaregister/([^/]+)/([0-9]+)/([0-9]+)");
    private static final Pattern UNREGISTER = Pattern.compile("/unregister/([^/]+)");

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

    void answer(Exchange exchange, String rest) {
        boolean status = rest.equals("/status");
        if (!ControlRoute.isMethod(exchange, status ? Method.GET : Method.POST)) {
            return;
        }
        Optional<ControlRoute.Work> work = status ? Optional.of(() -> status(exchange)) : change(exchange, rest);
        work.ifPresentOrElse(
                present -> control.answer(exchange, present), () -> exchange.answerEmpty(Status.BAD_REQUEST_400));
    }

    private MessageBody status(Exchange exchange) {
        return MessageBody.of(
                SharedMemoryStatus.newBuilder()
                        .addAllSharedMemoryRegion(regions.regions())
                        .build(),
                exchange);
    }

    private Optional<ControlRoute.Work> change(Exchange exchange, String rest) {
        if (rest.equals("/unregisterall")) {
            return Optional.of(() -> done(regions::unregisterAll));
        }
        Matcher unregister = UNREGISTER.matcher(rest);
        if (unregister.matches()) {
            return Optional.of(() -> done(() -> regions.unregister(unregister.group(1))));
        }
        Matcher register = REGISTER.matcher(rest);
        if (register.matches()) {
            return Optional.of(() -> done(() -> regions.registerSystem(
                    register.group(1), register.group(2), number(register.group(3)), number(register.group(4)))));
        }
        Matcher cuda = CUDA_REGISTER.matcher(rest);
        if (cuda.matches()) {
            return Optional.of(() -> done(() -> regions.registerCuda(
                    cuda.group(1), handle(exchange), number(cuda.group(3)), number(cuda.group(2)))));
        }
        return Optional.empty();
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

    private static MessageBody done(Runnable work) {
        work.run();
        return MessageBody.NONE;
    }

    private static long number(String digits) {
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
