// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.google.protobuf.Message;
import com.google.protobuf.util.JsonFormat;
import gatun.client.MalformedResponseException;
import gatun.client.http.Json.SegmentStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The JSON of control calls, which is small. Stateless and safe for any thread. */
final class ControlJson {
    private ControlJson() {}

    interface Body {
        void write(JsonGenerator json) throws IOException;
    }

    /** An object with these fields; the caller closes the memory that it lies in. */
    static GrowingBuffer object(Body fields) {
        GrowingBuffer target = new GrowingBuffer(4096);
        try (JsonGenerator json = Json.generator(target)) {
            json.writeStartObject();
            fields.write(json);
            json.writeEndObject();
        } catch (IOException e) {
            target.close();
            throw new UncheckedIOException("memory cannot be written", e);
        } catch (Throwable t) {
            target.close();
            throw t;
        }
        return target;
    }

    /** Makes a message of JSON; fields that it does not have are left out. */
    static <B extends Message.Builder> B message(MemorySegment json, B target) throws IOException {
        JsonFormat.parser()
                .ignoringUnknownFields()
                .merge(new InputStreamReader(new SegmentStream(json), StandardCharsets.UTF_8), target);
        return target;
    }

    /** An object's fields in order: {@link String}, {@link Long}, {@link Double}, {@link Boolean}, list or map. */
    static Fields object(MemorySegment json) throws IOException {
        return fields(value(json), "an object");
    }

    static List<Fields> objects(MemorySegment json) throws IOException {
        List<?> elements = list(value(json), "an array of objects");
        List<Fields> found = new ArrayList<>(elements.size());
        for (Object element : elements) {
            found.add(fields(element, "an array of objects"));
        }
        return found;
    }

    /** The fields of an object. */
    record Fields(Map<?, ?> values) {
        /** A string, or a number as one; empty where it is missing. */
        String text(String name) {
            Object value = values.get(name);
            return value == null ? "" : value.toString();
        }

        /** An integer, also one that stands in a string; 0 where it is missing. */
        long number(String name) {
            Object value = values.get(name);
            if (value == null) {
                return 0;
            }
            if (value instanceof Long number) {
                return number;
            }
            if (value instanceof String digits && digits.matches("-?[0-9]{1,18}")) {
                return Long.parseLong(digits);
            }
            throw new MalformedResponseException("its '" + name + "' is no integer: " + values);
        }

        boolean isFalse(String name) {
            return Boolean.FALSE.equals(values.get(name));
        }

        /** The strings of an array; none where it is missing. */
        List<String> texts(String name) {
            List<String> texts = new ArrayList<>();
            for (Object element : list(name)) {
                texts.add(String.valueOf(element));
            }
            return texts;
        }

        /** The objects of an array; none where it is missing. */
        List<Fields> objects(String name) {
            List<Fields> found = new ArrayList<>();
            for (Object element : list(name)) {
                found.add(fields(element, "an array of objects as '" + name + "'"));
            }
            return found;
        }

        /** The integers of an array; none where it is missing. */
        long[] numbers(String name) {
            List<?> list = list(name);
            long[] numbers = new long[list.size()];
            for (int i = 0; i < numbers.length; i++) {
                if (!(list.get(i) instanceof Long number)) {
                    throw unexpected("an array of integers as '" + name + "'");
                }
                numbers[i] = number;
            }
            return numbers;
        }

        private List<?> list(String name) {
            Object value = values.get(name);
            return value == null ? List.of() : ControlJson.list(value, "an array as '" + name + "'");
        }
    }

    private static Object value(MemorySegment json) throws IOException {
        try (JsonParser parser = Json.parser(json, 0)) {
            JsonToken first = parser.nextToken();
            if (first == null) {
                throw unexpected("anything");
            }
            return value(parser, first);
        }
    }

    private static Object value(JsonParser json, JsonToken token) throws IOException {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> fields = new LinkedHashMap<>();
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String name = json.currentName();
                    JsonToken value = json.nextToken();
                    if (value != JsonToken.VALUE_NULL) {
                        fields.put(name, value(json, value));
                    }
                }
                yield fields;
            }
            case START_ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
                    elements.add(value(json, next));
                }
                yield elements;
            }
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NUMBER_INT -> {
                Object number = json.getNumberValue();
                yield number instanceof Integer small ? (Object) small.longValue() : number;
            }
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            default -> json.getText();
        };
    }

    private static Fields fields(Object value, String expected) {
        if (value instanceof Map<?, ?> fields) {
            return new Fields(fields);
        }
        throw unexpected(expected);
    }

    private static List<?> list(Object value, String expected) {
        if (value instanceof List<?> list) {
            return list;
        }
        throw unexpected(expected);
    }

    private static MalformedResponseException unexpected(String expected) {
        return new MalformedResponseException("its JSON is not what was asked for: expected " + expected);
    }
}
