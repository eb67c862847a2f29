// SPDX-License-Identifier: Apache-2.0
package gatun.v1.http;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageOrBuilder;
import com.google.protobuf.TextFormat;
import com.google.protobuf.util.JsonFormat;
import gatun.wire.v1.InferRequestHeader;
import java.util.Optional;

/** Protobuf's text format, as headers and bodies of v1 have it, and its JSON. */
final class MessageText {
    private static final TextFormat.Printer LINES = TextFormat.printer();
    private static final TextFormat.Printer LINE = LINES.emittingSingleLine(true);
    private static final TextFormat.Parser PARSER = TextFormat.Parser.newBuilder()
            .setSingularOverwritePolicy(TextFormat.Parser.SingularOverwritePolicy.FORBID_SINGULAR_OVERWRITES)
            .build();
    private static final JsonFormat.Printer JSON =
            JsonFormat.printer().preservingProtoFieldNames().omittingInsignificantWhitespace();

    private MessageText() {}

    /** A message in one line of ASCII; fields that have their default value are left out. */
    static String line(MessageOrBuilder message) {
        return LINE.printToString(message).stripTrailing();
    }

    static String lines(MessageOrBuilder message) {
        return LINES.printToString(message);
    }

    /** A message as JSON with the names of the fields as they are; fields with their default value are left out. */
    static String json(Message message) {
        try {
            return JSON.print(message);
        } catch (InvalidProtocolBufferException e) {
            throw new AssertionError("only messages of type Any fail, of which there are none", e);
        }
    }

    /** The header of an inference request; empty when the text is none. */
    static Optional<InferRequestHeader> parse(String text) {
        InferRequestHeader.Builder header = InferRequestHeader.newBuilder();
        try {
            PARSER.merge(text, header);
        } catch (TextFormat.ParseException e) {
            return Optional.empty();
        }
        return Optional.of(header.build());
    }
}
