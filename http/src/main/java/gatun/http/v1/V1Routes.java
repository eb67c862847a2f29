// SPDX-License-Identifier: Apache-2.0
package gatun.http.v1;

import gatun.http.connection.Exchange;
import gatun.http.connection.RestrictedRequests;
import gatun.http.connection.Routes;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import gatun.v1.ControlCounters;
import gatun.v1.V1Api;
import io.helidon.http.Method;
import io.helidon.http.Status;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Paths under {@code /api/}. What none of them is, is answered 400 and the wrong method 405, both without a body, as v1 servers did. Safe for
 * any thread.
 */
public final class V1Routes implements Routes {
    private static final String ROOT = "/api/";
    private static final Pattern MODEL_CONTROL = Pattern.compile("/(load|unload)/([^/]+)");

    private final InferRoute infer;
    private final StatusRoutes statuses;
    private final SharedMemoryRoutes sharedMemory;
    private final ControlRoute control;
    private final V1Api api;
    private final RestrictedRequests restricted;

    /**
     * Answers with {@code api}.
     *
     * @param access which groups of requests need which headers
     */
    public V1Routes(InferenceServer server, V1Api api, ApiAccess access) {
        this.api = api;
        control = new ControlRoute(api);
        infer = new InferRoute(server, api);
        statuses = new StatusRoutes(api, control);
        sharedMemory = new SharedMemoryRoutes(server.buffers(), api.sharedMemory(), control);
        restricted = new RestrictedRequests(access);
    }

    @Override
    public boolean answer(Exchange exchange) {
        String path = exchange.path();
        if (!path.startsWith(ROOT)) {
            return false;
        }
        int nameEnd = path.indexOf('/', ROOT.length());
        String name = path.substring(ROOT.length(), nameEnd < 0 ? path.length() : nameEnd);
        String rest = nameEnd < 0 ? "" : path.substring(nameEnd);
        Optional<ApiGroup> group = group(name);
        if (group.isPresent() && restricted.refused(exchange, group.get())) {
            return true;
        }
        switch (name) {
            case "health" -> statuses.health(exchange, rest);
            case "status" -> statuses.status(exchange, rest);
            case "repository" -> statuses.repository(exchange, rest);
            case "infer" -> infer.answer(exchange, rest);
            case "modelcontrol" -> modelControl(exchange, rest);
            case "sharedmemorycontrol" -> sharedMemory.answer(exchange, rest);
            default -> exchange.answerEmpty(Status.BAD_REQUEST_400);
        }
        return true;
    }

    private static Optional<ApiGroup> group(String name) {
        return switch (name) {
            case "health" -> Optional.of(ApiGroup.HEALTH);
            // It tells the configurations of models and what they have counted too, which nobody had to keep apart
            // then.
            case "status" -> Optional.of(ApiGroup.METADATA);
            case "repository", "modelcontrol" -> Optional.of(ApiGroup.MODEL_REPOSITORY);
            case "infer" -> Optional.of(ApiGroup.INFERENCE);
            case "sharedmemorycontrol" -> Optional.of(ApiGroup.SHARED_MEMORY);
            default -> Optional.empty();
        };
    }

    private void modelControl(Exchange exchange, String rest) {
        Matcher matcher = MODEL_CONTROL.matcher(rest);
        if (!ControlRoute.isMethod(exchange, Method.POST)) {
            return;
        }
        if (!matcher.matches()) {
            exchange.answerEmpty(Status.BAD_REQUEST_400);
            return;
        }
        String model = matcher.group(2);
        control.answer(exchange, ControlCounters.Kind.MODEL_CONTROL, () -> {
            if (matcher.group(1).equals("load")) {
                api.modelControl().load(model);
            } else {
                api.modelControl().unload(model);
            }
            return MessageBody.NONE;
        });
    }
}
