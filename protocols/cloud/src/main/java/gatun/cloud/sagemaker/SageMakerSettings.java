// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import java.nio.file.Path;

/**
 * The settings of the endpoint.
 *
 * @param ping what {@code /ping} tells
 * @param defaultModel the model of {@code /invocations}; empty where nothing names it
 * @param models the folder that all models of requests to {@code /models} lie in
 */
public record SageMakerSettings(Ping ping, String defaultModel, Invocation invocation, Path models) {
    /** The settings that hold where SageMaker's variables say nothing. */
    public static final SageMakerSettings STANDARD =
            new SageMakerSettings(Ping.READY, "", Invocation.INFER, Path.of("/opt/ml/models"));

    /** The health that {@code /ping} tells. */
    public enum Ping {
        /** Whether the server is ready. */
        READY("ready"),
        /** Whether the server is live. */
        LIVE("live");

        private final String text;

        Ping(String text) {
            this.text = text;
        }

        /** The name, as the path of v2 that answers has it. */
        public String text() {
            return text;
        }
    }

    /** The request of v2 that {@code /invocations} stands for. */
    public enum Invocation {
        /** Tensors in JSON or binary. */
        INFER("infer"),
        /** Plain JSON, one response. */
        GENERATE("generate"),
        /** Plain JSON, a stream of responses. */
        GENERATE_STREAM("generate_stream");

        private final String text;

        Invocation(String text) {
            this.text = text;
        }

        /** The name, as the path of v2 that answers has it. */
        public String text() {
            return text;
        }
    }
}
