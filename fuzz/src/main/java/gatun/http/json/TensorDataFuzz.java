// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The {@code data} of tensors in JSON: the first byte chooses the datatype, the second the number of elements, the rest
 * is the text.
 */
public final class TensorDataFuzz {
    private static final int HEAD = 2;
    private static final int MOST_ELEMENTS = 16;
    private static final Datatype[] DATATYPES = {
        Datatype.BOOL,
        Datatype.INT8,
        Datatype.UINT8,
        Datatype.INT16,
        Datatype.UINT16,
        Datatype.INT32,
        Datatype.UINT32,
        Datatype.INT64,
        Datatype.UINT64,
        Datatype.FP32,
        Datatype.FP64,
        Datatype.BYTES
    };

    private static final ObjectMapper JACKSON = JsonMapper.builder()
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private TensorDataFuzz() {}

    /** Reads the input as a tensor. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length < HEAD) {
            return;
        }
        Datatype datatype = DATATYPES[(input[0] & 0xff) % DATATYPES.length];
        int count = (input[1] & 0xff) % MOST_ELEMENTS;
        byte[] json = java.util.Arrays.copyOfRange(input, HEAD, input.length);
        FuzzInput.run(input, () -> {
            try (Arena arena = Arena.ofConfined()) {
                MemorySegment text = FuzzInput.inMemory(arena, json);
                if (datatype == Datatype.BYTES) {
                    readStrings(arena, text);
                } else {
                    readNumbers(arena, text, datatype, count);
                }
            } catch (GatunException e) {
                FuzzInput.require(!e.getMessage().isEmpty(), "a refusal says why");
            }
        });
    }

    private static void readStrings(Arena arena, MemorySegment text) {
        TensorDataReader data = new TensorDataReader();
        JsonReader measured = new JsonReader(text, 0, text.byteSize());
        measured.readTensor(data.measuringStrings());
        measured.end();
        long count = data.count();
        MemorySegment elements =
                arena.allocate(Math.max(1, data.encodedByteSize())).asSlice(0, data.encodedByteSize());
        new JsonReader(text, 0, text.byteSize()).readTensor(data.strings(elements));
        FuzzInput.requireEqual(
                BytesCodec.check(elements, count), BytesCodec.Check.Complete.COMPLETE, "what was measured is filled");
    }

    private static void readNumbers(Arena arena, MemorySegment text, Datatype datatype, int count) {
        TensorDataReader data = new TensorDataReader();
        long byteSize = (long) count * datatype.byteSize();
        MemorySegment elements =
                arena.allocate(Math.max(1, byteSize), Long.BYTES).asSlice(0, byteSize);
        JsonReader reader = new JsonReader(text, 0, text.byteSize());
        reader.readTensor(data.into("IN", datatype, count, elements));
        reader.end();
        data.requireCount(count);
        if (datatype == Datatype.FP64) {
            FuzzInput.text(text.toArray(ValueLayout.JAVA_BYTE)).ifPresent(json -> requireSameDoubles(json, elements));
        }
    }

    private static void requireSameDoubles(String json, MemorySegment elements) {
        List<Double> expected = new ArrayList<>();
        Optional<JsonNode> tree = jackson(json);
        // Text that only ours reads has numbers that are none.
        if (tree.isPresent() && addLeaves(tree.get(), expected)) {
            List<Double> read = new ArrayList<>();
            for (double element : elements.toArray(ValueLayout.JAVA_DOUBLE)) {
                read.add(element);
            }
            FuzzInput.requireEqual(read, expected, json);
        }
    }

    /** Whether all leaves are numbers that a double holds. */
    private static boolean addLeaves(JsonNode node, List<Double> leaves) {
        if (node.isArray()) {
            boolean numbers = true;
            for (JsonNode element : node) {
                numbers &= addLeaves(element, leaves);
            }
            return numbers;
        }
        // Jackson makes a plain zero of -0.
        leaves.add(Double.valueOf(node.doubleValue()));
        return node.isNumber() && !Double.isInfinite(node.doubleValue()) && node.doubleValue() != 0;
    }

    private static Optional<JsonNode> jackson(String json) {
        try {
            return Optional.of(JACKSON.readTree(json));
        } catch (JacksonException e) {
            return Optional.empty();
        }
    }
}
