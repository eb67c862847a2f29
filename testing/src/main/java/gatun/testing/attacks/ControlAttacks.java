// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/** Requests that control a server which lets clients load models. Without state. */
public final class ControlAttacks {
    private static final String LOAD = "/v2/repository/models/simple/load";

    /** The outcome of a load whose configuration is refused; the model that is served stays. */
    private static final Set<String> REFUSED = Set.of("400");

    /** Attacks on the example model {@code simple}. */
    public ControlAttacks() {}

    /** Every attack of this kind. */
    public List<Attack> all() {
        return List.of(
                load("a configuration with a billion instances", "\\\"instance_group\\\":[{\\\"count\\\":1000000000}]"),
                load(
                        "a configuration with a warm-up of a terabyte",
                        "\\\"model_warmup\\\":[{\\\"name\\\":\\\"w\\\",\\\"batch_size\\\":1,\\\"inputs\\\":{\\\"INPUT0\\\":"
                                + "{\\\"data_type\\\":\\\"TYPE_INT32\\\",\\\"dims\\\":[1000000,1000000],\\\"zero_data\\\":true}}}]"));
    }

    /** A load with a configuration that overrides the model's own; {@code fields} are JSON within a string of JSON. */
    private static Attack load(String name, String fields) {
        String body = "{\"parameters\":{\"config\":\"{\\\"backend\\\":\\\"onnxruntime\\\"," + fields + "}\"}}";
        return new Attack(name, REFUSED, target -> {
            try (HttpAttacker attacker = new HttpAttacker(target.http())) {
                RepeatedBody bytes =
                        new RepeatedBody(body.getBytes(StandardCharsets.UTF_8), new byte[] {0}, 0, new byte[0]);
                return attacker.post(LOAD, bytes, "").status();
            }
        });
    }
}
