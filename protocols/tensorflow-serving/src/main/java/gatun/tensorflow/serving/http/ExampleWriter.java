// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonNumber;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.GatunException;

/** Writes examples as TensorFlow's {@code tf.Example} messages, straight from their JSON. For one thread. */
final class ExampleWriter {
    // Keys of fields that are length-delimited: the field's number and the wire type.
    private static final int FEATURES = 1 << 3 | 2;
    private static final int FEATURE_ENTRY = 1 << 3 | 2;
    private static final int ENTRY_KEY = 1 << 3 | 2;
    private static final int ENTRY_VALUE = 2 << 3 | 2;
    private static final int LIST_VALUES = 1 << 3 | 2;

    /** The type of a feature's values. */
    private enum ListKind {
        NONE("UNKNOWN", 0),
        BYTES("bytes", 1),
        FLOAT("float", 2),
        INT64("int64", 3);

        private final String text;
        private final int key;

        ListKind(String text, int field) {
            this.text = text;
            this.key = field << 3 | 2;
        }
    }

    private final ValueText values;
    private final ElementBuffer target;

    /**
     * Where in the target the name of the feature lies that is being written; it never becomes a text but in an error.
     */
    private long nameStart;

    private long nameLength;

    /** Writes to the end of {@code target}, and shows wrong values by {@code values}. */
    ExampleWriter(ValueText values, ElementBuffer target) {
        this.values = values;
        this.target = target;
    }

    /**
     * Appends the message of the object that {@code json} stands at.
     *
     * @throws GatunException INVALID_ARGUMENT when it is no example
     */
    void write(JsonReader json) {
        if (json.peek() != JsonKind.OBJECT) {
            throw GatunException.invalidArgument(
                    "Example must be JSON object but got JSON " + values.kind(json.position()));
        }
        target.putByte(FEATURES);
        long features = target.beginMessage();
        json.enterObject("");
        while (json.nextMember()) {
            target.putByte(FEATURE_ENTRY);
            long entry = target.beginMessage();
            target.putByte(ENTRY_KEY);
            nameLength = json.nameByteSize();
            nameStart = target.putName(json);
            target.putByte(ENTRY_VALUE);
            long feature = target.beginMessage();
            writeFeature(json);
            target.endMessage(feature);
            target.endMessage(entry);
        }
        target.endMessage(features);
    }

    private void writeFeature(JsonReader json) {
        if (json.peek() != JsonKind.ARRAY) {
            Begun begun = begin(json);
            writeValue(json, begun.kind());
            end(begun);
            return;
        }
        json.enterArray("");
        if (!json.nextElement()) {
            return;
        }
        Begun begun = begin(json);
        do {
            writeValue(json, begun.kind());
        } while (json.nextElement());
        end(begun);
    }

    /** A list that has been begun, and in it the numbers, where they are numbers. */
    private record Begun(ListKind kind, long list, long numbers) {}

    /** Begins the list that the value begins which {@code json} stands at. */
    private Begun begin(JsonReader json) {
        ListKind kind = kind(json);
        target.putByte(kind.key);
        long list = target.beginMessage();
        if (kind == ListKind.BYTES) {
            return new Begun(kind, list, 0);
        }
        target.putByte(LIST_VALUES);
        return new Begun(kind, list, target.beginMessage());
    }

    private void end(Begun begun) {
        if (begun.kind() != ListKind.BYTES) {
            target.endMessage(begun.numbers());
        }
        target.endMessage(begun.list());
    }

    /** The kind of list that the value is for which {@code json} stands at, and stands at afterwards too. */
    private ListKind kind(JsonReader json) {
        return switch (json.peek()) {
            case STRING -> ListKind.BYTES;
            case BOOLEAN -> ListKind.INT64;
            case NUMBER -> {
                long position = json.position();
                JsonNumber number = json.readNumber("");
                json.position(position);
                yield number.fitsSigned64() || number.fitsUnsigned64() ? ListKind.INT64 : ListKind.FLOAT;
            }
            case OBJECT -> {
                if (Base64Value.isOtherObject(json)) {
                    throw unexpected(json);
                }
                yield ListKind.BYTES;
            }
            case ARRAY, NULL -> throw unexpected(json);
        };
    }

    private void writeValue(JsonReader json, ListKind list) {
        if (kind(json) != list) {
            throw GatunException.invalidArgument(
                    "Unexpected element type in feature: " + name() + " expecting type: " + list.text);
        }
        switch (json.peek()) {
            case BOOLEAN -> target.putVarint(json.readBoolean("") ? 1 : 0);
            case NUMBER -> writeNumber(json.readNumber(""), list);
            case STRING -> {
                target.putByte(LIST_VALUES);
                target.putDelimited(json);
            }
            case OBJECT -> {
                long string = Base64Value.find(json);
                long end = json.position();
                json.position(string);
                target.putByte(LIST_VALUES);
                target.putDelimitedBase64(json);
                json.position(end);
            }
            case ARRAY, NULL -> throw unexpected(json);
        }
    }

    private void writeNumber(JsonNumber number, ListKind list) {
        if (list == ListKind.FLOAT) {
            target.putFloat(number.toFloat());
        } else if (number.fitsSigned64()) {
            target.putVarint(number.integerBits());
        } else {
            throw GatunException.invalidArgument(
                    "Feature: " + name() + " has uint64_t element. Only int64_t is supported.");
        }
    }

    private String name() {
        return target.text(nameStart, nameLength);
    }

    private GatunException unexpected(JsonReader json) {
        return GatunException.invalidArgument(
                "Feature: " + name() + " has element with unexpected JSON type: " + values.kind(json.position()));
    }
}
