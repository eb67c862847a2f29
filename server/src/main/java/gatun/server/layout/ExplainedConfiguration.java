// SPDX-License-Identifier: Apache-2.0
package gatun.server.layout;

import com.google.protobuf.TextFormat;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Writes the {@code config.pbtxt} of a model, with comments that say what each part means and what else there is. */
final class ExplainedConfiguration {
    private static final String HEAD = """
            # The configuration of this model. A line that begins with # is a comment. The server reads this file when it
            # loads the model, and 'gatun check' tells what is wrong with it.

            # Clients ask for the model by this name, which is also that of the folder.
            """;
    private static final String ENGINE = """

            # The engine that runs the model's file, which lies in the folder of its version (1, 2, ...).
            """;
    private static final String BATCHES = """

            # The first dimension of each tensor is the batch: a request has 1 to this many rows, and dims below leave
            # that dimension out. A larger number lets more requests run together, and takes more memory.
            """;
    private static final String NO_BATCHES = """

            # Requests have no batch dimension: dims below are the whole shape. Where the first dimension of each tensor
            # is one that the model takes in any size, a number above 0 makes it the batch, and dims leave it out.
            """;
    private static final String TENSORS = """

            # What the model takes and what it gives. -1 stands for a dimension of any size.
            """;
    private static final String BATCHING = """

            # Requests that come at the same time run as one batch. With a delay, the server also waits that long for more.
            """;
    private static final String WITHOUT_BATCHING = """

            # Requests that come at the same time run one by one; with this, they run as one batch. It needs a
            # max_batch_size above 1.
            # dynamic_batching { max_queue_delay_microseconds: 100 }
            """;
    private static final String MORE = """

            # How many requests or batches run at a time. Without this the server chooses by the processor's cores.
            # instance_group [ { count: 2  kind: KIND_CPU } ]

            # Which versions are served: the newest one, unless this says otherwise.
            # version_policy { all { } }

            # A request that the model runs before it is ready, so that the first one of a client is not slow.
            # model_warmup [
            #   {
            #     name: "zeros"
            """;

    /** A shape as protobuf prints it: a line for each dimension. */
    private static final Pattern DIMENSIONS =
            Pattern.compile("^( *)(dims|shape): -?\\d+$(?:\\R\\1\\2: -?\\d+$)*", Pattern.MULTILINE);

    private ExplainedConfiguration() {}

    /** The text of a completed configuration. {@code unbatched} says why it has no batching unasked. */
    static String of(ModelConfig config, Optional<String> unbatched) {
        StringBuilder text = new StringBuilder(HEAD);
        text.append(print(ModelConfig.newBuilder().setName(config.getName())));
        text.append(ENGINE);
        ModelConfig.Builder engine = ModelConfig.newBuilder().setPlatform(config.getPlatform());
        text.append(print(config.getPlatform().isEmpty() ? engine.setBackend(config.getBackend()) : engine));
        boolean batches = config.getMaxBatchSize() > 0;
        text.append(batches ? BATCHES : NO_BATCHES);
        text.append("max_batch_size: ").append(config.getMaxBatchSize()).append('\n');
        text.append(TENSORS);
        text.append(print(
                ModelConfig.newBuilder().addAllInput(config.getInputList()).addAllOutput(config.getOutputList())));
        if (config.hasDynamicBatching()) {
            text.append(BATCHING).append("dynamic_batching { }\n");
        } else {
            text.append(WITHOUT_BATCHING);
            unbatched.ifPresent(reason ->
                    text.append("# Without it: ").append(oneLine(reason)).append(".\n"));
        }
        text.append(MORE).append(warmUp(config));
        ModelConfig rest = rest(config);
        if (!rest.equals(ModelConfig.getDefaultInstance())) {
            text.append("\n# What the engine has found besides.\n").append(print(rest.toBuilder()));
        }
        return text.toString();
    }

    private static String warmUp(ModelConfig config) {
        String batch = config.getMaxBatchSize() > 0 ? "#     batch_size: 1\n" : "";
        return batch
                + config.getInputList().stream()
                        .map(ExplainedConfiguration::warmUp)
                        .collect(Collectors.joining())
                + "#   }\n# ]\n";
    }

    private static String warmUp(ModelInput input) {
        List<String> dims = input.getDimsList().stream()
                .map(dim -> Long.toString(Math.max(1, dim)))
                .toList();
        return "#     inputs { key: \"" + TextFormat.escapeDoubleQuotesAndBackslashes(oneLine(input.getName()))
                + "\"  value { data_type: " + input.getDataType() + "  dims: " + dims + "  zero_data: true } }\n";
    }

    /** A name that cannot end the comment that it stands in. */
    private static String oneLine(String name) {
        return name.replaceAll("\\p{Cntrl}", "?");
    }

    /** What is neither written above nor a default that each model has. */
    private static ModelConfig rest(ModelConfig config) {
        return config.toBuilder()
                .clearName()
                .clearPlatform()
                .clearBackend()
                .clearMaxBatchSize()
                .clearInput()
                .clearOutput()
                .clearDynamicBatching()
                .clearVersionPolicy()
                .clearInstanceGroup()
                .clearOptimization()
                .clearDefaultModelFilename()
                .clearRuntime()
                .build();
    }

    private static String print(ModelConfig.Builder part) {
        String text = TextFormat.printer().printToString(part);
        return DIMENSIONS.matcher(text).replaceAll(found -> {
            String values = found.group().strip().replaceAll("\\R *[a-z]+: ", ", ");
            return found.group(1) + values.replace(": ", ": [") + "]";
        });
    }
}
