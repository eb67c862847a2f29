// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.v1.ControlCounters;
import gatun.v1.V1Api;
import gatun.wire.v1.RequestStatus;
import gatun.wire.v1.RequestStatusCode;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Status;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What v1 responses without inference share: a header with the outcome, and 200 or 400. Thread-safe. */
final class ControlRoute {
    static final HeaderName STATUS = HeaderNames.create("NV-Status");
    private static final ResponseHeaders.Constant OK = ResponseHeaders.constant(Status.OK_200);
    private static final ResponseHeaders.Constant FAILED = ResponseHeaders.constant(Status.BAD_REQUEST_400);
    private static final Logger LOG = LoggerFactory.getLogger(ControlRoute.class);

    private final V1Api api;

    ControlRoute(V1Api api) {
        this.api = api;
    }

    /** The work of a request. */
    interface Work {
        /** Does the work, and returns the response's body. Throws {@link GatunException} when it fails. */
        MessageBody run();
    }

    /** Answers, with 200 where it is done. */
    void answer(Exchange exchange, Work work) {
        Outcome outcome = outcome(work);
        send(exchange, outcome, outcome.succeeded());
    }

    /** The same, and counts the request. */
    void answer(Exchange exchange, ControlCounters.Kind kind, Work work) {
        long beganNanos = System.nanoTime();
        Outcome outcome = outcome(work);
        send(exchange, outcome, outcome.succeeded());
        if (outcome.succeeded()) {
            api.counters().answered(kind, beganNanos);
        }
    }

    /** Answers whether the server is well: no failure when it is not, but no 200 either. */
    void answerHealth(Exchange exchange, BooleanSupplier health) {
        boolean[] well = {false};
        long beganNanos = System.nanoTime();
        Outcome outcome = outcome(() -> {
            well[0] = health.getAsBoolean();
            return MessageBody.NONE;
        });
        send(exchange, outcome, well[0]);
        if (outcome.succeeded()) {
            api.counters().answered(ControlCounters.Kind.HEALTH, beganNanos);
        }
    }

    private record Outcome(RequestStatus status, MessageBody body) {
        private boolean succeeded() {
            return status.getCode() == RequestStatusCode.SUCCESS;
        }
    }

    private Outcome outcome(Work work) {
        try {
            MessageBody body = work.run();
            return new Outcome(api.statuses().success(), body);
        } catch (GatunException e) {
            return new Outcome(api.statuses().failure(e), MessageBody.NONE);
        } catch (RuntimeException e) {
            // A client of v1 takes a response without the header for a broken server.
            LOG.error("a request failed", e);
            GatunException told = new GatunException(ErrorCode.INTERNAL, "unexpected failure, see the log", e);
            return new Outcome(api.statuses().failure(told), MessageBody.NONE);
        }
    }

    private static void send(Exchange exchange, Outcome outcome, boolean ok) {
        exchange.header(STATUS, MessageText.line(outcome.status()));
        MessageBody body = outcome.body();
        if (!body.contentType().isEmpty()) {
            exchange.header(HeaderNames.CONTENT_TYPE, body.contentType());
        }
        exchange.answer(ResponseHeaders.of(ok ? OK : FAILED), body.writeTo(exchange.json()));
    }
}
