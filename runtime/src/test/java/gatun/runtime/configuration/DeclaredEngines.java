// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;

/** Engines that declare files as the server's own do, and run nothing. */
public final class DeclaredEngines {
    /** What they declare. */
    public static final EngineCatalog CATALOG = new EngineCatalog(List.of(
            new Declared(
                    "fil",
                    1,
                    Set.of(),
                    ModelFormat.of("xgboost.json", "fil", 90, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_ENDING),
                    ModelFormat.of(
                            "xgboost.ubj",
                            "fil",
                            100,
                            Trait.FILE_BY_PARAMETER,
                            Trait.KNOWN_BY_ENDING,
                            Trait.ALONE_BY_ENDING),
                    ModelFormat.of("xgboost.model", "fil", 110, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_ENDING),
                    ModelFormat.of("model.txt", "fil", 120, Trait.FILE_BY_PARAMETER, Trait.ALONE_BY_NAME),
                    ModelFormat.of("checkpoint.tl", "fil", 130, Trait.FILE_BY_PARAMETER)),
            new Declared(
                    "onnxruntime",
                    2,
                    Set.of("ModelConfig.model_operations"),
                    ModelFormat.of("model.onnx", "onnxruntime", 40, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                            .platform("onnxruntime_onnx")),
            new Declared("python", 1, Set.of(), ModelFormat.of("model.py", "python", 80)),
            new Declared(
                    "pytorch",
                    1,
                    Set.of(),
                    ModelFormat.of("model.pt", "pytorch", 60, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                            .platform("pytorch_libtorch", "libtorch")),
            new Declared(
                    "tensorflow",
                    2,
                    Set.of("ModelConfig.model_operations"),
                    ModelFormat.of(
                                    "model.savedmodel",
                                    "tensorflow",
                                    0,
                                    Trait.KNOWN_BY_ENDING,
                                    Trait.FOLDER,
                                    Trait.SCALARS)
                            .platform("tensorflow_savedmodel"),
                    ModelFormat.of(
                                    "saved_model.pb",
                                    "tensorflow",
                                    10,
                                    Trait.KNOWN_BY_ENDING,
                                    Trait.FOLDER_OF_FILE,
                                    Trait.SCALARS)
                            .platform("tensorflow_savedmodel")),
            new Declared(
                    "torch_aoti",
                    1,
                    Set.of(),
                    ModelFormat.of("model.pt2", "pytorch", 70, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                            .platform("torch_aoti"))));

    private DeclaredEngines() {}

    private record Declared(String name, int instancesOnCpu, Set<String> configurationFields, List<ModelFormat> formats)
            implements Backend {
        Declared(String name, int instancesOnCpu, Set<String> configurationFields, ModelFormat... formats) {
            this(name, instancesOnCpu, configurationFields, List.of(formats));
        }

        @Override
        public BackendModel load(ModelConfig config, Path versionDirectory) {
            throw new AssertionError("it runs nothing");
        }
    }
}
