// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import com.google.protobuf.ByteString;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.WireFormat;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A protobuf message by the numbers of its fields alone, so that the code under test does not also write and read the
 * test's messages.
 */
public final class V1Message {
    private final Map<Integer, List<Object>> fields = new TreeMap<>();

    /** Adds a number; one more than there is makes a repeated field. */
    public V1Message number(int field, long value) {
        return add(field, value);
    }

    public V1Message text(int field, String value) {
        return add(field, ByteString.copyFromUtf8(value));
    }

    public V1Message bytes(int field, byte[] value) {
        return add(field, ByteString.copyFrom(value));
    }

    public V1Message message(int field, V1Message value) {
        return bytes(field, value.toByteArray());
    }

    private V1Message add(int field, Object value) {
        fields.computeIfAbsent(field, key -> new ArrayList<>()).add(value);
        return this;
    }

    public byte[] toByteArray() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CodedOutputStream wire = CodedOutputStream.newInstance(out);
        try {
            for (Map.Entry<Integer, List<Object>> field : fields.entrySet()) {
                for (Object value : field.getValue()) {
                    if (value instanceof Long number) {
                        wire.writeUInt64(field.getKey(), number);
                    } else {
                        wire.writeBytes(field.getKey(), (ByteString) value);
                    }
                }
            }
            wire.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    public static V1Message parse(byte[] bytes) {
        V1Message message = new V1Message();
        CodedInputStream wire = CodedInputStream.newInstance(bytes);
        try {
            for (int tag = wire.readTag(); tag != 0; tag = wire.readTag()) {
                int field = WireFormat.getTagFieldNumber(tag);
                switch (WireFormat.getTagWireType(tag)) {
                    case WireFormat.WIRETYPE_VARINT -> message.number(field, wire.readUInt64());
                    case WireFormat.WIRETYPE_LENGTH_DELIMITED -> message.add(field, wire.readBytes());
                    case WireFormat.WIRETYPE_FIXED32 -> message.number(field, wire.readFixed32());
                    default -> throw new AssertionError("a field that no message of v1 has: tag " + tag);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("no protobuf message", e);
        }
        return message;
    }

    public boolean has(int field) {
        return fields.containsKey(field);
    }

    /** A number; 0 when it is missing. */
    public long number(int field) {
        return has(field) ? (Long) last(field) : 0;
    }

    /** A repeated number, packed as proto3 has it. */
    public List<Long> numbers(int field) {
        List<Long> numbers = new ArrayList<>();
        for (Object value : fields.getOrDefault(field, List.of())) {
            try {
                CodedInputStream packed = ((ByteString) value).newCodedInput();
                while (!packed.isAtEnd()) {
                    numbers.add(packed.readInt64());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return numbers;
    }

    public float real(int field) {
        return Float.intBitsToFloat((int) number(field));
    }

    public String text(int field) {
        return has(field) ? ((ByteString) last(field)).toStringUtf8() : "";
    }

    public List<byte[]> allBytes(int field) {
        return fields.getOrDefault(field, List.of()).stream()
                .map(value -> ((ByteString) value).toByteArray())
                .toList();
    }

    /** A nested message; an empty one when it is missing. */
    public V1Message message(int field) {
        return has(field) ? parse(((ByteString) last(field)).toByteArray()) : new V1Message();
    }

    public List<V1Message> messages(int field) {
        return allBytes(field).stream().map(V1Message::parse).toList();
    }

    /** The entry of a map with this key, which is a text or a number; an empty message when there is none. */
    public V1Message entry(int field, Object key) {
        for (V1Message entry : messages(field)) {
            boolean found = key instanceof Long number
                    ? entry.number(1) == number
                    : entry.text(1).equals(key);
            if (found) {
                return entry.message(2);
            }
        }
        return new V1Message();
    }

    private Object last(int field) {
        return Objects.requireNonNull(fields.get(field)).getLast();
    }
}
