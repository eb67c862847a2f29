// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.JsonNumber;
import gatun.http.json.JsonReader;
import gatun.http.json.JsonWriter;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

/** Shows the beginning of a value to its sender, in the layout of the responses. For one thread. */
final class ValueText {
    private static final int BYTE_LIMIT = 256;
    private static final int INDENT = 4;
    private static final String LONG_NAME = "...";

    private final MemorySegment text;
    private final long start;
    private final long byteSize;
    private final RequestUsage usage;

    ValueText(MemorySegment text, long start, long byteSize, RequestUsage usage) {
        this.usage = usage;
        this.text = text;
        this.start = start;
        this.byteSize = byteSize;
    }

    /** The value at {@code position} of the segment, cut off at 256 bytes. */
    String at(long position) {
        JsonReader json = new JsonReader(text, start, byteSize, usage).depthLimit(RequestDocument.DEPTH_LIMIT);
        json.position(position);
        JsonWriter out = new JsonWriter();
        IndentedJson indented = new IndentedJson(out, INDENT).oneLineArrays(true);
        copy(json, indented);
        int end = Math.min(out.size(), BYTE_LIMIT);
        while (end < out.size() && (out.array()[end] & 0xC0) == 0x80) {
            end--;
        }
        return new String(out.array(), 0, end, StandardCharsets.UTF_8);
    }

    /** Copies a value; false when there is enough. */
    private boolean copy(JsonReader json, IndentedJson out) {
        if (out.text().size() >= BYTE_LIMIT) {
            return false;
        }
        switch (json.peek()) {
            case OBJECT -> {
                out.beginObject();
                json.enterObject("");
                while (json.nextMember()) {
                    // A longer one would fill what is shown.
                    out.name(json.nameByteSize() <= BYTE_LIMIT ? json.name() : LONG_NAME);
                    if (!copy(json, out)) {
                        return false;
                    }
                }
                out.endObject();
            }
            case ARRAY -> {
                out.beginArray();
                json.enterArray("");
                while (json.nextElement()) {
                    if (!copy(json, out)) {
                        return false;
                    }
                }
                out.endArray();
            }
            case STRING -> string(json, out);
            case NUMBER -> number(json.readNumber(""), out);
            case BOOLEAN -> out.bool(json.readBoolean(""));
            case NULL -> {
                json.skipValue();
                out.raw().raw("null");
            }
        }
        return out.text().size() < BYTE_LIMIT;
    }

    private void string(JsonReader json, IndentedJson out) {
        long quote = json.position();
        if (json.measureString("") <= BYTE_LIMIT) {
            json.position(quote);
            out.string(json.readString(""));
        } else {
            // As it was written: whatever its escapes are, no more of it than this is shown.
            out.raw().raw(text.asSlice(quote, BYTE_LIMIT));
        }
    }

    /** Unlike the numbers of responses with no more digits than tell it from others. */
    private static void number(JsonNumber number, IndentedJson out) {
        if (number.fitsSigned64()) {
            out.signed(number.integerBits());
        } else if (number.fitsUnsigned64()) {
            out.unsigned(number.integerBits());
        } else {
            out.raw().fp64(number.toDouble());
        }
    }

    String kind(long position) {
        JsonReader json = new JsonReader(text, start, byteSize, usage);
        json.position(position);
        return switch (json.peek()) {
            case OBJECT -> "Object";
            case ARRAY -> "Array";
            case STRING -> "String";
            case NUMBER -> "Number";
            case BOOLEAN -> text.get(JAVA_BYTE, json.position()) == 't' ? "True" : "False";
            case NULL -> "Null";
        };
    }
}
