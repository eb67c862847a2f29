// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.Backend;
import gatun.spi.BackendInstance;
import gatun.spi.BackendModel;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * Adds the number in its file, {@code model.toy}, to each element of {@code IN}, times the option {@code times}. An engine
 * with files of its own, as small as it can be: the server knows nothing of it but what it declares.
 */
public final class ToyBackend implements Backend {
    private static final String NAME = "toy";
    private static final String FILE = "model.toy";
    private static final String TIMES = "times";

    private int times = 1;

    /** For {@link java.util.ServiceLoader}. */
    public ToyBackend() {}

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public List<ModelFormat> formats() {
        return List.of(ModelFormat.of(FILE, NAME, 1000, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                .platform("toy_number"));
    }

    @Override
    public List<Option> options() {
        return List.of(new Option(TIMES, "How often the number of a model is added."));
    }

    @Override
    public void start(Map<String, String> options) {
        times = Integer.parseInt(options.getOrDefault(TIMES, "1"));
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        if (config.getInputCount() > 0) {
            return config;
        }
        return config.toBuilder()
                .addInput(ModelInput.newBuilder()
                        .setName("IN")
                        .setDataType(DataType.TYPE_INT32)
                        .addDims(-1))
                .addOutput(ModelOutput.newBuilder()
                        .setName("OUT")
                        .setDataType(DataType.TYPE_INT32)
                        .addDims(-1))
                .build();
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        int number = times * number(versionDirectory.resolve(config.getDefaultModelFilename()));
        return spec -> adding(number);
    }

    private static int number(Path file) {
        try {
            return Integer.parseInt(Files.readString(file).strip());
        } catch (IOException | NumberFormatException e) {
            throw GatunException.invalidArgument(file.getFileName() + " holds no number");
        }
    }

    private static BackendInstance adding(int number) {
        return execution -> {
            Tensor in = Inputs.named(execution, "IN");
            execution.inferStarted();
            MemorySegment out = execution.output(
                    0, Datatype.INT32, in.spec().shape(), in.bytes().byteSize());
            for (long i = 0; i < in.spec().shape().elementCount(); i++) {
                out.setAtIndex(ElementLayouts.INT32, i, number + in.bytes().getAtIndex(ElementLayouts.INT32, i));
            }
            execution.inferEnded();
        };
    }
}
