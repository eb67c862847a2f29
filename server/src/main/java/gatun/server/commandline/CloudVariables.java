// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The environment variables by which Vertex AI and SageMaker tell a container what they expect of it. */
final class CloudVariables {
    private static final String MODE = "AIP_MODE";
    private static final String PREDICTION = "PREDICTION";

    private static final Map<String, String> FLAGS = Map.of(
            "AIP_HTTP_PORT", "--vertex-ai-port",
            "AIP_PREDICT_ROUTE", "--vertex-ai-predict-route",
            "AIP_HEALTH_ROUTE", "--vertex-ai-health-route",
            "AIP_STORAGE_URI", "--model-repository",
            "SAGEMAKER_TRITON_PING_MODE", "--sagemaker-ping-mode",
            "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME", "--sagemaker-default-model",
            "SAGEMAKER_TRITON_INFERENCE_TYPE", "--sagemaker-inference-type");

    private CloudVariables() {}

    /** The flags that {@code environment} sets, where nothing else sets them. */
    static List<SettingSource> read(CommandSpec command, Map<String, String> environment) {
        List<SettingSource> found = new ArrayList<>();
        if (PREDICTION.equals(environment.get(MODE))) {
            found.add(source(command, "--allow-vertex-ai", "true", MODE));
            found.add(source(command, "--allow-http", "false", MODE));
            found.add(source(command, "--allow-grpc", "false", MODE));
            // What asks there is no browser, and may run beside the server in its Pod.
            found.add(source(command, "--allow-host", "*", MODE));
        }
        FLAGS.forEach((variable, flag) -> {
            String value = environment.get(variable);
            if (value != null && !value.isEmpty()) {
                found.add(source(command, flag, value, variable));
            }
        });
        return found;
    }

    private static SettingSource source(CommandSpec command, String flag, String value, String variable) {
        OptionSpec option = command.optionsMap().get(flag);
        if (option == null) {
            throw new IllegalStateException("there is no flag " + flag);
        }
        return new SettingSource(option, List.of(value), variable);
    }
}
