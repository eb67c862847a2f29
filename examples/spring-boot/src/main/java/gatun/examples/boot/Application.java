// SPDX-License-Identifier: Apache-2.0
package gatun.examples.boot;

import gatun.client.ArrayTensors;
import gatun.client.GatunClient;
import gatun.client.InferResponse;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RestController;

/** Adds two vectors of 16 numbers by the model {@code simple}, which lies in this application's resources. */
@SpringBootApplication
public class Application {
    public static void main(String[] args) {
        SpringApplication.run(Application.class, args);
    }

    /** What to add. */
    record Vectors(int[] left, int[] right) {}

    /** Adds vectors. */
    @RestController
    static class AddController {
        private final GatunClient models;

        AddController(GatunClient models) {
            this.models = models;
        }

        @PostMapping("/add")
        int[] add(@RequestBody Vectors vectors) {
            try (InferResponse response = models.infer(
                    "simple",
                    ArrayTensors.of("INPUT0", vectors.left(), 1, 16),
                    ArrayTensors.of("INPUT1", vectors.right(), 1, 16))) {
                return response.ints("OUTPUT0");
            }
        }
    }
}
