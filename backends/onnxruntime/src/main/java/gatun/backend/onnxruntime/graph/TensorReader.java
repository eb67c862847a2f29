// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Graph.Constant;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads one tensor's name and first elements; few integers whole, as operators' axes come from them. */
final class TensorReader {
    /** The most integers that are kept of a tensor or an attribute. */
    private static final int MAX_NUMBERS = 32;

    /** The bytes of a tensor's elements that are kept; so many tell the tensors of a model apart. */
    private static final int CONTENT_BYTES = 256;

    private static final int INT32 = 6;
    private static final int INT64 = 7;

    /** A tensor; {@code name} is empty for that of an attribute. */
    record NamedTensor(String name, Constant constant) {}

    private final FileCursor in;
    private String name = "";
    private int elementType;
    private final List<Long> dims = new ArrayList<>();
    private final List<Long> numbers = new ArrayList<>();
    private final StringBuilder content = new StringBuilder();
    private byte[] raw = {};

    private TensorReader(FileCursor in) {
        this.in = in;
    }

    static NamedTensor read(FileCursor in) {
        TensorReader reader = new TensorReader(in);
        in.fields(reader::readField);
        return new NamedTensor(reader.name, reader.constant());
    }

    private void readField(int tag) {
        switch (tag) {
            case Tags.TENSOR_DIMS -> add(dims, in.varint());
            case Tags.TENSOR_DIMS_PACKED -> readPacked(in, dims);
            case Tags.TENSOR_TYPE -> elementType = (int) in.varint();
            case Tags.TENSOR_INT32S, Tags.TENSOR_INT64S -> add(numbers, in.varint());
            case Tags.TENSOR_INT32S_PACKED, Tags.TENSOR_INT64S_PACKED -> readPacked(in, numbers);
            case Tags.TENSOR_NAME -> name = in.name();
            case Tags.TENSOR_RAW -> {
                raw = in.beginning(CONTENT_BYTES);
                addContent(raw);
            }
            case Tags.TENSOR_FLOATS,
                    Tags.TENSOR_TEXTS,
                    Tags.TENSOR_DOUBLES,
                    Tags.TENSOR_UINT64S,
                    Tags.TENSOR_ELSEWHERE -> addContent(in.beginning(CONTENT_BYTES));
            default -> in.skip(tag);
        }
    }

    private void addContent(byte[] bytes) {
        if (content.length() < CONTENT_BYTES) {
            content.append(new String(bytes, StandardCharsets.ISO_8859_1)).append('/');
        }
    }

    /** Reads integers that stand one after the other, and keeps the first of them. */
    static void readPacked(FileCursor in, List<Long> numbers) {
        in.message(() -> {
            while (in.hasMore() && numbers.size() <= MAX_NUMBERS) {
                add(numbers, in.varint());
            }
        });
    }

    /** Keeps an integer, if it is one of the first; one more than the most shows that there are more. */
    static void add(List<Long> numbers, long number) {
        if (numbers.size() <= MAX_NUMBERS) {
            numbers.add(number);
        }
    }

    private Constant constant() {
        return new Constant(
                elementType + ":" + dims + ":" + numbers + ":" + content, elementType, elements(), dims.size());
    }

    private Optional<List<Long>> elements() {
        if ((elementType != INT32 && elementType != INT64) || dims.size() > 1) {
            return Optional.empty();
        }
        long count = dims.isEmpty() ? 1 : dims.get(0);
        if (count < 0 || count > MAX_NUMBERS) {
            return Optional.empty();
        }
        if (numbers.size() == count) {
            return Optional.of(List.copyOf(numbers));
        }
        int byteSize = elementType == INT32 ? Integer.BYTES : Long.BYTES;
        if (raw.length != count * byteSize) {
            return Optional.empty();
        }
        ByteBuffer buffer = ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN);
        List<Long> elements = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            elements.add(elementType == INT32 ? buffer.getInt() : buffer.getLong());
        }
        return Optional.of(List.copyOf(elements));
    }
}
