// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.util.function.Function;

/**
 * The JSON of a request, with the places of known members; the first of one name counts. A syntax error fails the
 * request before any other error. Tensors are too large to be read twice for that: {@linkplain #forPredict for predict}
 * they are skipped by their brackets, and a reader that finds an error asks {@link #firstFailure} for the one to
 * report. For one thread.
 */
final class RequestDocument {
    private static final String SIGNATURE_NAME = "signature_name";

    /** How deep values may be nested that nobody reads; tensors and features may less. */
    static final int DEPTH_LIMIT = 1 << 16;

    private static final String FAILING = "";

    /** What some editors write before UTF-8. */
    private static final int BYTE_ORDER_MARK = 0xEFBBBF;

    private static final int MARK_BYTES = 3;

    private final MemorySegment text;
    private final long start;
    private final long byteSize;
    private final long markBytes;
    private final RequestUsage usage;
    private final ValueText values;

    private String signatureName = "";
    private Member instances = Member.MISSING;
    private Member inputs = Member.MISSING;
    private Member context = Member.MISSING;
    private Member examples = Member.MISSING;

    /** A member's value: where it begins, negative for none; how many elements, 1 if no array; the end with blanks. */
    record Member(long position, JsonKind kind, long elementCount, long end) {
        private static final Member MISSING = new Member(-1, JsonKind.NULL, 0, -1);

        static Member at(JsonReader json) {
            JsonKind kind = json.peek();
            long position = json.position();
            long elementCount = json.countElements();
            return new Member(position, kind, elementCount, json.position());
        }

        /** The same, with unread content between its brackets. */
        static Member passedOver(JsonReader json) {
            JsonKind kind = json.peek();
            long position = json.position();
            long elementCount = json.passOver();
            return new Member(position, kind, elementCount, json.position());
        }

        boolean present() {
            return position >= 0;
        }
    }

    /**
     * Reads a document, its tensors by their brackets only. Throws INVALID_ARGUMENT when it is no object of JSON, or
     * names a signature by no string, RESOURCE_EXHAUSTED when a text is too long.
     */
    static RequestDocument forPredict(MemorySegment text, long start, long byteSize, RequestUsage usage) {
        return new RequestDocument(text, start, byteSize, usage, Member::passedOver);
    }

    /** The same for classify and regress: the whole document has been checked to be JSON. */
    static RequestDocument forExamples(MemorySegment text, long start, long byteSize, RequestUsage usage) {
        return new RequestDocument(text, start, byteSize, usage, Member::at);
    }

    private RequestDocument(
            MemorySegment text, long start, long byteSize, RequestUsage usage, Function<JsonReader, Member> tensors) {
        this.usage = usage;
        this.text = text;
        this.markBytes = beginsWithMark(text, start, byteSize) ? MARK_BYTES : 0;
        this.start = start + markBytes;
        this.byteSize = byteSize - markBytes;
        this.values = new ValueText(text, this.start, this.byteSize, usage);
        if (byteSize == 0) {
            throw GatunException.invalidArgument("JSON Parse error: The document is empty");
        }
        try {
            find(tensors);
        } catch (GatunException e) {
            throw firstFailure(e);
        }
    }

    private static boolean beginsWithMark(MemorySegment text, long start, long byteSize) {
        int first = 0;
        for (int i = 0; i < MARK_BYTES && i < byteSize; i++) {
            first = first << Byte.SIZE | Byte.toUnsignedInt(text.get(JAVA_BYTE, start + i));
        }
        return first == BYTE_ORDER_MARK;
    }

    /** The failure to report when {@code found} was found: a syntax error anywhere in the JSON comes first. */
    GatunException firstFailure(GatunException found) {
        try {
            reader().skipValue();
        } catch (GatunException noJson) {
            return noJson;
        }
        return found;
    }

    private void find(Function<JsonReader, Member> tensors) {
        JsonReader json = reader();
        if (json.peek() != JsonKind.OBJECT) {
            json.skipValue();
            throw failure("Is not object");
        }
        long signature = -1;
        json.enterObject(FAILING);
        while (json.nextMember()) {
            if (signature < 0 && json.nameIs(SIGNATURE_NAME)) {
                signature = json.position();
                json.skipValue();
            } else if (!instances.present() && json.nameIs("instances")) {
                instances = tensors.apply(json);
            } else if (!inputs.present() && json.nameIs("inputs")) {
                inputs = tensors.apply(json);
            } else if (!context.present() && json.nameIs("context")) {
                context = Member.at(json);
            } else if (!examples.present() && json.nameIs("examples")) {
                examples = Member.at(json);
            } else {
                json.skipValue();
            }
        }
        if (signature >= 0) {
            JsonReader name = reader(signature);
            if (name.peek() != JsonKind.STRING) {
                throw failure("not formatted correctly. 'signature_name' key must be a string value.");
            }
            signatureName = name.readString(FAILING);
        }
    }

    /** The signature that the request names; empty for none. */
    String signatureName() {
        return signatureName;
    }

    Member instances() {
        return instances;
    }

    Member inputs() {
        return inputs;
    }

    Member context() {
        return context;
    }

    Member examples() {
        return examples;
    }

    ValueText values() {
        return values;
    }

    private JsonReader reader() {
        return new JsonReader(
                        text,
                        start,
                        byteSize,
                        (what, offset) -> "JSON Parse error: " + what + " at offset: " + (markBytes + offset),
                        usage)
                .depthLimit(DEPTH_LIMIT);
    }

    JsonReader reader(long position) {
        JsonReader json = reader();
        json.position(position);
        return json;
    }

    GatunException failure(String reason) {
        return GatunException.invalidArgument("JSON Value: " + values.at(start) + " " + reason);
    }
}
