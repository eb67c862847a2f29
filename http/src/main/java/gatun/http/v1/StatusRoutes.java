// SPDX-License-Identifier: Apache-2.0
package gatun.http.v1;

import gatun.http.connection.Exchange;
import gatun.v1.AllStatuses;
import gatun.v1.ControlCounters;
import gatun.v1.V1Api;
import io.helidon.http.Method;
import io.helidon.http.Status;

/** What the server tells of itself: whether it is well, what its models do, which there are. Safe for any thread. */
final class StatusRoutes {
    private final V1Api api;
    private final ControlRoute control;

    StatusRoutes(V1Api api, ControlRoute control) {
        this.api = api;
        this.control = control;
    }

    void health(Exchange exchange, String rest) {
        if (!ControlRoute.isMethod(exchange, Method.GET)) {
            return;
        }
        if (!rest.equals("/live") && !rest.equals("/ready")) {
            exchange.answerEmpty(Status.BAD_REQUEST_400);
            return;
        }
        control.answerHealth(exchange, () -> api.serverStatuses().healthy(rest.substring(1)));
    }

    void status(Exchange exchange, String rest) {
        if (!ControlRoute.isMethod(exchange, Method.GET)) {
            return;
        }
        String model = rest.isEmpty() ? "" : rest.substring(1);
        try (AllStatuses all = api.serverStatuses().all()) {
            control.answer(
                    exchange,
                    ControlCounters.Kind.STATUS,
                    () -> MessageBody.alsoJson(
                            model.isEmpty() ? all.read() : api.serverStatuses().of(model), exchange));
        }
    }

    void repository(Exchange exchange, String rest) {
        if (!ControlRoute.isMethod(exchange, Method.GET)) {
            return;
        }
        if (!rest.equals("/index")) {
            exchange.answerEmpty(Status.BAD_REQUEST_400);
            return;
        }
        control.answer(
                exchange,
                ControlCounters.Kind.REPOSITORY,
                () -> MessageBody.of(api.modelControl().index(), exchange));
    }
}
