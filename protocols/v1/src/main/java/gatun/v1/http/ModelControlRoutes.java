// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import gatun.http.connection.Exchange;
import gatun.http.routes.PathValues;
import gatun.v1.ControlCounters;
import gatun.v1.ModelControl;

/** Loading and unloading of models. Safe for any thread. */
final class ModelControlRoutes {
    private final ModelControl models;
    private final ControlRoute control;

    ModelControlRoutes(ModelControl models, ControlRoute control) {
        this.models = models;
        this.control = control;
    }

    void load(Exchange exchange, PathValues path) {
        answer(exchange, () -> models.load(path.value("model")));
    }

    void unload(Exchange exchange, PathValues path) {
        answer(exchange, () -> models.unload(path.value("model")));
    }

    private void answer(Exchange exchange, Runnable change) {
        control.answer(exchange, ControlCounters.Kind.MODEL_CONTROL, () -> {
            change.run();
            return MessageBody.NONE;
        });
    }
}
