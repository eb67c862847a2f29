// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.Exchange;
import gatun.http.routes.PathValues;
import gatun.v1.AllStatuses;
import gatun.v1.ControlCounters;
import gatun.v1.V1Api;
import io.helidon.http.Status;

/** Health of the server, status of its models, and the repository index. Safe for any thread. */
final class StatusRoutes {
    private final V1Api api;
    private final ControlRoute control;

    StatusRoutes(V1Api api, ControlRoute control) {
        this.api = api;
        this.control = control;
    }

    void health(Exchange exchange, PathValues path) {
        String state = path.value("state");
        if (!state.equals("live") && !state.equals("ready")) {
            exchange.answerEmpty(Status.BAD_REQUEST_400);
            return;
        }
        control.answerHealth(exchange, () -> api.serverStatuses().healthy(state));
    }

    void status(Exchange exchange, PathValues path) {
        String model = path.value("model");
        try (AllStatuses all = api.serverStatuses().all()) {
            control.answer(
                    exchange,
                    ControlCounters.Kind.STATUS,
                    () -> MessageBody.alsoJson(
                            model.isEmpty() ? all.read() : api.serverStatuses().of(model), exchange));
        }
    }

    void repository(Exchange exchange, PathValues path) {
        control.answer(
                exchange,
                ControlCounters.Kind.REPOSITORY,
                () -> MessageBody.of(api.modelControl().index(), exchange));
    }
}
