// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import gatun.client.MalformedResponseException;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the JSON of a response to an inference. Used once. */
final class InferResponseJson {
    private static final long NONE = -1;
    private static final long ALIGNMENT = 64;
    /** Far from an overflow, and more than any memory. */
    private static final long GREATEST_BYTE_SIZE = 1L << 48;

    private static final int FIRST_DIMS = 8;

    private final MemorySegment json;
    private final List<InferLayout.Output> outputs = new ArrayList<>(4);
    private final Map<String, Object> parameters = new LinkedHashMap<>(4);
    private String model = "";
    private String version = "";
    private String id = "";
    private long binaryByteSize;
    private long memoryByteSize;

    private InferResponseJson(MemorySegment json) {
        this.json = json;
    }

    /** Reads all of {@code json}. Throws {@link MalformedResponseException} when it is no response to an inference. */
    static InferLayout read(MemorySegment json) {
        InferResponseJson reader = new InferResponseJson(json);
        try (JsonParser parser = Json.parser(json, 0)) {
            return reader.answer(parser);
        } catch (IOException e) {
            InferLayout.close(reader.outputs);
            throw new MalformedResponseException("its JSON cannot be read: " + e.getMessage(), e);
        } catch (Throwable t) {
            InferLayout.close(reader.outputs);
            throw t;
        }
    }

    private InferLayout answer(JsonParser parser) throws IOException {
        expect(parser.nextToken(), JsonToken.START_OBJECT, "the answer");
        boolean found = false;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            JsonToken value = parser.nextToken();
            switch (name) {
                case "model_name" -> model = text(parser, value, name);
                case "model_version" -> version = text(parser, value, name);
                case "id" -> id = text(parser, value, name);
                case "parameters" -> parameters(parser, value);
                case "outputs" -> {
                    found = true;
                    expect(value, JsonToken.START_ARRAY, name);
                    while (parser.nextToken() != JsonToken.END_ARRAY) {
                        expect(parser.currentToken(), JsonToken.START_OBJECT, "an element of 'outputs'");
                        output(parser);
                    }
                }
                default -> parser.skipChildren();
            }
        }
        if (parser.nextToken() != null) {
            throw new MalformedResponseException("its JSON has more than one value");
        }
        if (!found) {
            throw new MalformedResponseException("its JSON has no 'outputs'");
        }
        return new InferLayout(
                model, version, id, Map.copyOf(parameters), List.copyOf(outputs), binaryByteSize, memoryByteSize);
    }

    private void output(JsonParser parser) throws IOException {
        String name = "";
        String datatypeName = "";
        @Nullable Shape shape = null;
        long binary = NONE;
        long dataAt = NONE;
        InferLayout.@Nullable Parsed parsed = null;
        try {
            while (parser.nextToken() == JsonToken.FIELD_NAME) {
                String field = parser.currentName();
                JsonToken value = parser.nextToken();
                switch (field) {
                    case "name" -> name = text(parser, value, field);
                    case "datatype" -> datatypeName = text(parser, value, field);
                    case "shape" -> shape = shape(parser, value, name);
                    case "parameters" -> binary = binaryByteSize(parser, value, name);
                    case "data" -> {
                        if (name.isEmpty() || datatypeName.isEmpty() || shape == null || parsed != null) {
                            // Read when all that is known.
                            dataAt = parser.currentTokenLocation().getByteOffset();
                            parser.skipChildren();
                        } else {
                            parsed = JsonTensorReader.read(parser, spec(name, datatypeName, shape));
                        }
                    }
                    default -> parser.skipChildren();
                }
            }
            outputs.add(parsed == null ? output(spec(name, datatypeName, shape), binary, dataAt) : parsed);
        } catch (Throwable t) {
            if (parsed != null) {
                parsed.elements().close();
            }
            throw t;
        }
    }

    private static TensorSpec spec(String name, String datatypeName, @Nullable Shape shape) {
        Datatype datatype = Datatype.of(datatypeName);
        if (datatype == Datatype.INVALID || shape == null) {
            throw new MalformedResponseException("its output '" + name + "' has "
                    + (shape == null ? "no shape" : "the datatype '" + datatypeName + "', which there is not"));
        }
        if (shape.elementCount() < 0 || shape.byteSize(datatype) == Shape.OVERFLOW) {
            throw new MalformedResponseException(
                    "its output '" + name + "' has the shape " + shape + ", which is too large");
        }
        return new TensorSpec(name, datatype, shape);
    }

    private InferLayout.Output output(TensorSpec spec, long binary, long dataAt) throws IOException {
        if (binary != NONE) {
            long expected = spec.shape().byteSize(spec.datatype());
            if (spec.datatype().isFixedSize() && binary != expected) {
                throw new MalformedResponseException("its output '" + spec.name() + "' " + spec.datatype() + " "
                        + spec.shape() + " has " + binary + " bytes: expected " + expected);
            }
            if (binary > GREATEST_BYTE_SIZE - memoryByteSize) {
                throw new MalformedResponseException("its output '" + spec.name() + "' has " + binary
                        + " bytes: expected at most " + GREATEST_BYTE_SIZE + " in all");
            }
            InferLayout.Binary output = new InferLayout.Binary(spec, memoryByteSize, binary);
            binaryByteSize += binary;
            memoryByteSize += (binary + ALIGNMENT - 1) & -ALIGNMENT;
            return output;
        }
        if (dataAt != NONE) {
            try (JsonParser data = Json.parser(json, dataAt)) {
                data.nextToken();
                return JsonTensorReader.read(data, spec);
            }
        }
        return new InferLayout.Absent(spec);
    }

    private void parameters(JsonParser parser, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return;
        }
        expect(value, JsonToken.START_OBJECT, "parameters");
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            String name = parser.currentName();
            switch (parser.nextToken()) {
                case VALUE_STRING -> parameters.put(name, parser.getText());
                case VALUE_TRUE -> parameters.put(name, true);
                case VALUE_FALSE -> parameters.put(name, false);
                case VALUE_NUMBER_INT -> parameters.put(name, parser.getLongValue());
                case VALUE_NUMBER_FLOAT -> parameters.put(name, parser.getDoubleValue());
                // Some servers nest objects here, which are not the protocol's.
                default -> parser.skipChildren();
            }
        }
    }

    private static long binaryByteSize(JsonParser parser, JsonToken value, String output) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return NONE;
        }
        expect(value, JsonToken.START_OBJECT, "parameters");
        long byteSize = NONE;
        while (parser.nextToken() == JsonToken.FIELD_NAME) {
            boolean wanted = parser.currentName().equals("binary_data_size");
            JsonToken size = parser.nextToken();
            if (wanted) {
                byteSize = size == JsonToken.VALUE_NUMBER_INT ? parser.getLongValue() : NONE;
                if (byteSize < 0) {
                    throw new MalformedResponseException("its output '" + output + "' has the binary_data_size "
                            + parser.getText() + ": expected a number of bytes");
                }
            } else {
                parser.skipChildren();
            }
        }
        return byteSize;
    }

    private static Shape shape(JsonParser parser, JsonToken value, String output) throws IOException {
        expect(value, JsonToken.START_ARRAY, "shape");
        long[] dims = new long[FIRST_DIMS];
        int rank = 0;
        for (JsonToken dim = parser.nextToken(); dim != JsonToken.END_ARRAY; dim = parser.nextToken()) {
            if (dim != JsonToken.VALUE_NUMBER_INT || parser.getLongValue() < 0) {
                throw new MalformedResponseException("its output '" + output + "' has the dimension " + parser.getText()
                        + ": expected an integer of 0 or more");
            }
            if (rank == dims.length) {
                dims = Arrays.copyOf(dims, 2 * rank);
            }
            dims[rank++] = parser.getLongValue();
        }
        return Shape.ofFirst(dims, rank);
    }

    /** A string; also a number, as some servers send for versions, and nothing for null. */
    private static String text(JsonParser parser, JsonToken value, String name) throws IOException {
        if (value == JsonToken.VALUE_NULL) {
            return "";
        }
        if (!value.isScalarValue()) {
            throw new MalformedResponseException("its JSON has no string as '" + name + "'");
        }
        return parser.getText();
    }

    private static void expect(@Nullable JsonToken actual, JsonToken expected, String name) {
        if (actual != expected) {
            throw new MalformedResponseException("its JSON has no "
                    + (expected == JsonToken.START_ARRAY ? "array" : "object") + " as '" + name + "'");
        }
    }
}
