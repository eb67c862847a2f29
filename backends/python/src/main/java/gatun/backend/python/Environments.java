// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.wire.inference.ModelConfig;
import gatun.workers.ShortProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/** Pythons that models bring ({@code EXECUTION_ENV_PATH}), archives unpacked once. Thread-safe. */
final class Environments {
    private static final String PARAMETER = "EXECUTION_ENV_PATH";
    private static final String MODEL_DIRECTORY = "$$TRITON_MODEL_DIRECTORY";

    private final Interpreter standard;
    private final Path folder;
    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Archive, Path> unpacked = new HashMap<>(); // guarded by lock

    /**
     * An archive as it was when it was unpacked. {@code key} tells the file from all others; its real path would not
     * do: behind {@code /proc/PID/root}, as KServe mounts models, it is one of another process, which leads elsewhere
     * here.
     */
    private record Archive(Object key, long byteSize, FileTime modified) {
        static Archive of(Path path) throws IOException {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return new Archive(
                    Objects.requireNonNull(attributes.fileKey(), "Unix has keys of files"),
                    attributes.size(),
                    attributes.lastModifiedTime());
        }
    }

    /** @param standard runs models that bring no Python */
    Environments(Interpreter standard, Path folder) {
        this.standard = standard;
        this.folder = folder;
    }

    /** The Python of a model. Throws {@link GatunException} when it cannot be used. */
    Interpreter of(ModelConfig config, Path modelFolder) {
        String named = config.containsParameters(PARAMETER)
                ? config.getParametersOrThrow(PARAMETER).getStringValue()
                : "";
        if (named.isEmpty()) {
            return standard;
        }
        Path place = Path.of(named.replace(MODEL_DIRECTORY, modelFolder.toString()));
        if (!place.isAbsolute()) {
            place = modelFolder.resolve(place);
        }
        if (!Files.exists(place)) {
            throw new ConfigurationException(
                    ConfigurationPath.ofParameter(PARAMETER),
                    "parameter " + PARAMETER + " of model '" + config.getName() + "' names " + place
                            + ", which is not there",
                    "give the path of a folder or of an archive made by conda-pack");
        }
        Path home = Files.isDirectory(place) ? place : unpack(place);
        Interpreter own = new Interpreter(
                home.resolve("bin/python3").toString(),
                Map.of(
                        "PATH",
                        home.resolve("bin").toString(),
                        "LD_LIBRARY_PATH",
                        home.resolve("lib").toString()),
                standard.main(),
                standard.need());
        own.check();
        return own;
    }

    private Path unpack(Path archive) {
        try {
            // Another load may unpack for long; this one may be ended meanwhile.
            lock.lockInterruptibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw cannotUnpack(archive, "it was interrupted", e);
        }
        try {
            Archive known = Archive.of(archive);
            Path present = unpacked.get(known);
            if (present != null) {
                return present;
            }
            Path target = folder.resolve("environment-" + unpacked.size());
            Files.createDirectories(target);
            extract(archive, target);
            unpacked.put(known, target);
            return target;
        } catch (IOException e) {
            throw cannotUnpack(archive, IoFailure.describe(e), e);
        } finally {
            lock.unlock();
        }
    }

    /** By tar, which refuses members that lead out of the folder. */
    private static void extract(Path archive, Path target) throws IOException {
        try {
            ShortProcess tar = ShortProcess.run(
                    new ProcessBuilder(List.of("tar", "-xf", archive.toString(), "-C", target.toString())), 0);
            if (!tar.succeeded()) {
                throw cannotUnpack(archive, tar.output(), new IOException(tar.output()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw cannotUnpack(archive, "it was interrupted", e);
        }
    }

    private static GatunException cannotUnpack(Path archive, String why, Exception cause) {
        return new GatunException(
                ErrorCode.UNAVAILABLE, "environment " + archive + " could not be unpacked: " + why, cause);
    }
}
