// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.configuration.ModelConfiguration;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.stream.Stream;

/** Identifies a model by all that its responses depend on: configuration and files. */
public final class ModelFingerprint {
    private static final int CHUNK_BYTE_SIZE = 1 << 16;

    private ModelFingerprint() {}

    /**
     * A SHA-256 of one version: of its complete configuration but for its instances, and of names and content of all
     * files in its folder, which need not be there. Throws GatunException when a file cannot be read.
     */
    public static byte[] of(ModelConfig config, Path files) {
        Sha256 hash = new Sha256();
        addConfiguration(hash, config);
        if (Files.isDirectory(files)) {
            ByteBuffer chunk = ByteBuffer.allocate(CHUNK_BYTE_SIZE);
            try (Stream<Path> all = Files.walk(files, FileVisitOption.FOLLOW_LINKS)) {
                List<Path> sorted = all.filter(Files::isRegularFile).sorted().toList();
                for (Path file : sorted) {
                    hash.add(files.relativize(file).toString());
                    addContent(hash, file, chunk);
                }
            } catch (IOException | UncheckedIOException e) {
                throw new GatunException(
                        ErrorCode.UNAVAILABLE,
                        "the files in '" + files + "' cannot be read, which a response cache that servers share needs: "
                                + IoFailure.describe(e),
                        e);
            }
        }
        return hash.digest();
    }

    /** A SHA-256 of a model that asks others, whose fingerprints are in the order in which it names them. */
    public static byte[] of(ModelConfig config, List<byte[]> members) {
        Sha256 hash = new Sha256();
        addConfiguration(hash, config);
        members.forEach(member -> hash.add(MemorySegment.ofArray(member)));
        return hash.digest();
    }

    /** Adds a configuration but for its instances, which follow from the machine. */
    private static void addConfiguration(Sha256 hash, ModelConfig config) {
        hash.add(MemorySegment.ofArray(
                ModelConfiguration.withoutInstances(config).toByteArray()));
    }

    /** Adds a file's bytes and their number: by reading, since a file that is cut short under a mapping ends the process. */
    private static void addContent(Sha256 hash, Path file, ByteBuffer chunk) throws IOException {
        long byteSize = 0;
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
            while (channel.read(chunk.clear()) >= 0) {
                byteSize += chunk.flip().remaining();
                hash.add(chunk);
            }
        }
        hash.add(byteSize);
    }
}
