// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import com.fasterxml.jackson.core.JsonProcessingException;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.memory.tensor.Shape;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A mapped file of weights: length of a JSON description, that, and numbers. Immutable.
 *
 * @see <a href="https://huggingface.co/docs/safetensors">safetensors</a>
 */
final class SafeTensors {
    private static final long MAX_HEADER_BYTES = 100_000_000;
    private static final ValueLayout.OfLong LENGTH = ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final Map<String, Datatype> DATATYPES = Map.ofEntries(
            Map.entry("BOOL", Datatype.BOOL),
            Map.entry("U8", Datatype.UINT8),
            Map.entry("U16", Datatype.UINT16),
            Map.entry("U32", Datatype.UINT32),
            Map.entry("U64", Datatype.UINT64),
            Map.entry("I8", Datatype.INT8),
            Map.entry("I16", Datatype.INT16),
            Map.entry("I32", Datatype.INT32),
            Map.entry("I64", Datatype.INT64),
            Map.entry("F16", Datatype.FP16),
            Map.entry("BF16", Datatype.BF16),
            Map.entry("F32", Datatype.FP32),
            Map.entry("F64", Datatype.FP64));

    private final Path path;
    private final Map<?, ?> header;
    private final MemorySegment numbers;

    /** A tensor of the file, in its mapped memory. */
    record Entry(Datatype datatype, Shape shape, MemorySegment bytes) {}

    private SafeTensors(Path path, Map<?, ?> header, MemorySegment numbers) {
        this.path = path;
        this.header = header;
        this.numbers = numbers;
    }

    /** Maps a file until {@code arena} is closed. Throws INVALID_ARGUMENT for a file of another format. */
    static SafeTensors map(Path path, Arena arena) {
        try (FileChannel file = FileChannel.open(path)) {
            MemorySegment bytes = file.map(FileChannel.MapMode.READ_ONLY, 0, file.size(), arena);
            long length = bytes.byteSize() < Long.BYTES ? -1 : bytes.get(LENGTH, 0);
            if (length < 0 || length > MAX_HEADER_BYTES || length > bytes.byteSize() - Long.BYTES) {
                throw wrong(path, "it is too short for the description that it announces");
            }
            byte[] text = bytes.asSlice(Long.BYTES, length).toArray(ValueLayout.JAVA_BYTE);
            if (PackageJson.read(new String(text, StandardCharsets.UTF_8)) instanceof Map<?, ?> header) {
                return new SafeTensors(path, header, bytes.asSlice(Long.BYTES + length));
            }
            throw wrong(path, "its description is no JSON object");
        } catch (JsonProcessingException e) {
            throw wrong(path, "its description is no JSON");
        } catch (IOException e) {
            throw wrong(path, IoFailure.reason(e));
        }
    }

    private static GatunException wrong(Path path, String reason) {
        return GatunException.invalidArgument(path.getFileName() + " cannot be read as safetensors: " + reason);
    }

    /** The tensor {@code name}. Throws INVALID_ARGUMENT when it is missing or not as the file describes it. */
    Entry find(String name) {
        if (!(header.get(name) instanceof Map<?, ?> described)) {
            throw GatunException.invalidArgument(path.getFileName() + " has no weight '" + name
                    + "', which the model needs; write the state_dict of the very module that was compiled");
        }
        try {
            Datatype datatype = DATATYPES.getOrDefault(String.valueOf(described.get("dtype")), Datatype.INVALID);
            Shape shape = Shape.of(longs(described.get("shape")));
            long[] span = longs(described.get("data_offsets"));
            long byteSize = datatype == Datatype.INVALID ? -1 : shape.byteSize(datatype);
            if (span.length == 2
                    && span[0] >= 0
                    && span[1] <= numbers.byteSize()
                    && byteSize >= 0
                    && span[1] - span[0] == byteSize) {
                return new Entry(datatype, shape, numbers.asSlice(span[0], byteSize));
            }
        } catch (RuntimeException e) {
            // A field that is not there, or of another type: as a value that cannot be.
        }
        throw wrong(path, "what it says of '" + name + "' cannot be");
    }

    private static long[] longs(@Nullable Object value) {
        if (value instanceof List<?> numbers) {
            return numbers.stream()
                    .mapToLong(number -> Long.parseLong(String.valueOf(number)))
                    .toArray();
        }
        throw new IllegalArgumentException("no list of numbers");
    }
}
