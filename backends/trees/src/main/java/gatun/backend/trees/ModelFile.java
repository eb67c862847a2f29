// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.backend.trees.files.LightGbmFile;
import gatun.backend.trees.files.XGBoostBinary;
import gatun.backend.trees.files.XGBoostFile;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Collectors;

/** The file of a forest. */
record ModelFile(Path path, ForestFormat format) {
    /** The name that the server gives to configurations without one, for backends whose files it does not know. */
    private static final String NAMELESS = "model." + TreesBackend.NAME;

    /**
     * Finds a version's file: the configured one, else the usual one of its {@code model_type}, else the first usual
     * one. Throws NOT_FOUND when there is none, UNSUPPORTED for a format that nothing here reads.
     */
    static ModelFile find(ModelConfig config, Settings settings, Path versionDirectory) {
        String name = config.getDefaultModelFilename();
        Path named = versionDirectory.resolve(name);
        boolean isNamed = !name.isEmpty() && (!name.equals(NAMELESS) || Files.isRegularFile(named));
        ModelFile file = isNamed
                ? new ModelFile(
                        named,
                        settings.format()
                                .or(() -> ForestFormat.ofFile(name))
                                .orElseThrow(() -> new ConfigurationException(
                                        ConfigurationPath.of("default_model_filename"),
                                        "the name '" + name + "' does not say what is in the file",
                                        "write the parameter model_type: " + ForestFormat.types())))
                : unnamed(settings, versionDirectory);
        if (file.format == ForestFormat.TREELITE) {
            throw new GatunException(
                    ErrorCode.UNSUPPORTED,
                    "model '" + config.getName() + "' is a checkpoint of Treelite, which nothing here runs: serve the"
                            + " model that it was made of, as XGBoost's xgboost.json or xgboost.ubj or LightGBM's"
                            + " model.txt; scikit-learn's and cuML's forests become ONNX models by skl2onnx");
        }
        if (!Files.isRegularFile(file.path)) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    "version " + versionDirectory.getFileName() + " of model '" + config.getName() + "' has no file "
                            + file.name() + "; put it there, or name another by default_model_filename");
        }
        return file;
    }

    private static ModelFile unnamed(Settings settings, Path versionDirectory) {
        Optional<ForestFormat> there = Arrays.stream(ForestFormat.values())
                .filter(format -> Files.isRegularFile(versionDirectory.resolve(format.fileName())))
                .findFirst();
        ForestFormat format = settings.format()
                .or(() -> there)
                .orElseThrow(() -> new GatunException(
                        ErrorCode.NOT_FOUND,
                        "version " + versionDirectory.getFileName() + " has no model: expected one of the files "
                                + Arrays.stream(ForestFormat.values())
                                        .filter(known -> known != ForestFormat.TREELITE)
                                        .map(ForestFormat::fileName)
                                        .collect(Collectors.joining(", "))
                                + ", or another that default_model_filename names"));
        return new ModelFile(versionDirectory.resolve(format.fileName()), format);
    }

    /**
     * Checks what {@link #read} gave, since the libraries do not. Returns what the library is to read, with a zero byte
     * behind it: for XGBoost's binary format, JSON. Throws INVALID_ARGUMENT when the file is damaged.
     */
    MemorySegment checked(MemorySegment bytes, String model, Arena arena) {
        MemorySegment content = bytes.asSlice(0, bytes.byteSize() - 1);
        try {
            switch (format) {
                case LIGHTGBM -> LightGbmFile.check(content);
                case XGBOOST_JSON -> XGBoostFile.check(content, false);
                case XGBOOST_UBJ -> XGBoostFile.check(content, true);
                case XGBOOST -> {
                    MemorySegment json = XGBoostBinary.toJson(content, arena);
                    XGBoostFile.check(json.asSlice(0, json.byteSize() - 1), false);
                    return json;
                }
                case TREELITE -> throw new IllegalStateException("nothing reads Treelite's format");
            }
            return bytes;
        } catch (GatunException e) {
            throw GatunException.invalidArgument("model '" + model + "': " + name()
                    + " is damaged, or not in the format " + format.type() + ": " + e.getMessage());
        }
    }

    /** The name of the file, for messages: where it lies is not for clients. */
    String name() {
        return path.getFileName().toString();
    }

    /** The bytes of the file, and a zero byte. Throws INVALID_ARGUMENT when it cannot be read, or is empty. */
    MemorySegment read(Arena arena) {
        try (FileChannel channel = FileChannel.open(path)) {
            long byteSize = channel.size();
            if (byteSize == 0) {
                throw GatunException.invalidArgument(name() + " is empty; copy the model's file here again");
            }
            MemorySegment bytes = arena.allocate(byteSize + 1);
            for (long at = 0; at < byteSize; ) {
                long most = Math.min(byteSize - at, 1 << 24);
                int read = channel.read(bytes.asSlice(at, most).asByteBuffer(), at);
                if (read < 0) {
                    throw new EOFException("it became shorter while it was read");
                }
                at += read;
            }
            return bytes;
        } catch (IOException e) {
            throw new GatunException(ErrorCode.INVALID_ARGUMENT, name() + " cannot be read: " + IoFailure.reason(e), e);
        }
    }
}
