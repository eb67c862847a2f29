// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Files with a model's external weights: looks for {@code location} entries (onnx.proto) anywhere in its file. */
final class ExternalWeights {
    /** An entry's key, its first field, and the tag of its value. */
    private static final byte[] ENTRY = "\n\blocation\u0012".getBytes(US_ASCII);

    private static final int MOST_BYTES = 4096;

    private ExternalWeights() {}

    /** The files that {@code model} names and that lie in its folder or below, by their paths from there. */
    static Set<Path> of(Path model) throws IOException {
        Set<Path> found = new TreeSet<>();
        try (FileChannel file = FileChannel.open(model);
                Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
            for (long at = 0; at + ENTRY.length < bytes.byteSize(); at++) {
                if (begins(bytes, at)) {
                    value(bytes, at + ENTRY.length)
                            .filter(path -> liesBeside(model, path))
                            .ifPresent(found::add);
                }
            }
        }
        return found;
    }

    private static boolean begins(MemorySegment bytes, long at) {
        for (int i = 0; i < ENTRY.length; i++) {
            if (bytes.get(ValueLayout.JAVA_BYTE, at + i) != ENTRY[i]) {
                return false;
            }
        }
        return true;
    }

    /** The path whose length, one or two bytes of seven bits each, stands at {@code at}. */
    private static Optional<Path> value(MemorySegment bytes, long at) {
        int low = bytes.get(ValueLayout.JAVA_BYTE, at) & 0xFF;
        boolean longer = low >= 0x80 && at + 1 < bytes.byteSize();
        int length = longer ? (low & 0x7F) | bytes.get(ValueLayout.JAVA_BYTE, at + 1) << 7 : low;
        long begin = at + (longer ? 2 : 1);
        if (length < 1 || length > MOST_BYTES || begin + length > bytes.byteSize()) {
            return Optional.empty();
        }
        try {
            byte[] path = bytes.asSlice(begin, length).toArray(ValueLayout.JAVA_BYTE);
            return Optional.of(Path.of(new String(path, UTF_8)).normalize());
        } catch (InvalidPathException e) {
            return Optional.empty(); // Bytes of a weight that look like an entry.
        }
    }

    private static boolean liesBeside(Path model, Path path) {
        return !path.isAbsolute()
                && !path.startsWith("..")
                && Files.isRegularFile(model.resolveSibling(path))
                && !model.resolveSibling(path).equals(model);
    }
}
