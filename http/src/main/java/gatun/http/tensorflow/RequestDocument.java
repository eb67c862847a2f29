package gatun.http.tensorflow;

import gatun.http.json.JsonReader;
import gatun.http.json.JsonReader.Kind;
import gatun.memory.GatunException;
import java.lang.foreign.MemorySegment;

/**
 * The JSON of a request: found to be JSON to its end, with the places of the members that the protocol knows. Of several
 * members of one name the first counts. For one thread.
 */
final class RequestDocument {
    /** The name of the member that says what a request is to be answered by. */
    private static final String SIGNATURE_NAME = "signature_name";

    private static final String FAILING = "";

    private final MemorySegment text;
    private final long start;
    private final long byteSize;
    private final ValueText values;

    private String signatureName = "";
    private Member instances = Member.MISSING;
    private Member inputs = Member.MISSING;
    private Member context = Member.MISSING;
    private Member examples = Member.MISSING;

    /**
     * Where a member's value is.
     *
     * @param position where it begins in the segment; negative when there is no such member
     * @param kind what it is
     * @param elementCount how many elements it has; 1 when it is no array
     */
    record Member(long position, Kind kind, long elementCount) {
        private static final Member MISSING = new Member(-1, Kind.NULL, 0);

        /** The member whose value {@code json} stands at, and is read over. */
        static Member at(JsonReader json) {
            Kind kind = json.peek();
            long position = json.position();
            return new Member(position, kind, json.countElements());
        }

        /** Whether there is such a member. */
        boolean present() {
            return position >= 0;
        }
    }

    /**
     * Reads {@code byteSize} bytes from {@code start} of {@code text}.
     *
     * @throws GatunException INVALID_ARGUMENT when they are no JSON, no object, or name a signature by something else than a string
     */
    RequestDocument(MemorySegment text, long start, long byteSize) {
        this.text = text;
        this.start = start;
        this.byteSize = byteSize;
        this.values = new ValueText(text, start, byteSize);
        if (byteSize == 0) {
            throw GatunException.invalidArgument("JSON Parse error: The document is empty");
        }
        find();
    }

    private void find() {
        JsonReader json = reader();
        if (json.peek() != Kind.OBJECT) {
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
                instances = Member.at(json);
            } else if (!inputs.present() && json.nameIs("inputs")) {
                inputs = Member.at(json);
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
            if (name.peek() != Kind.STRING) {
                throw failure("not formatted correctly. 'signature_name' key must be a string value.");
            }
            signatureName = name.readString(FAILING);
        }
    }

    /** What the request is to be answered by; empty when it does not say. */
    String signatureName() {
        return signatureName;
    }

    /** Tensors in rows. */
    Member instances() {
        return instances;
    }

    /** Tensors in columns. */
    Member inputs() {
        return inputs;
    }

    /** What all examples have in common. */
    Member context() {
        return context;
    }

    /** Examples to classify, or to find values for. */
    Member examples() {
        return examples;
    }

    /** Shows values. */
    ValueText values() {
        return values;
    }

    /** A reader that stands at the begin of the document. */
    private JsonReader reader() {
        return new JsonReader(
                text, start, byteSize, (what, offset) -> "JSON Parse error: " + what + " at offset: " + offset);
    }

    /** A reader that stands at {@code position}, where a value begins. */
    JsonReader reader(long position) {
        JsonReader json = reader();
        json.position(position);
        return json;
    }

    /** The failure of the whole document. */
    GatunException failure(String reason) {
        return GatunException.invalidArgument("JSON Value: " + values.at(start) + " " + reason);
    }
}
