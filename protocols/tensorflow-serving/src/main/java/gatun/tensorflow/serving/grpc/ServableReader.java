// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.TextCache;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.tensorflow.serving.Servable;
import java.util.Optional;
import java.util.OptionalLong;

/** Reads ModelSpec messages. Thread-safe. */
final class ServableReader {
    /** The servable of a message without a ModelSpec. */
    static final Servable NOTHING = new Servable("", OptionalLong.empty(), Optional.empty(), "");

    // Field numbers of ModelSpec, and that of an Int64Value.
    private static final int NAME = 1;
    private static final int VERSION = 2;
    private static final int SIGNATURE_NAME = 3;
    private static final int VERSION_LABEL = 4;
    private static final int WRAPPED = 1;

    private final TextCache texts;

    ServableReader(TextCache texts) {
        this.texts = texts;
    }

    /**
     * Reads a ModelSpec from the window on top of {@code before}, an earlier piece's. Throws INVALID_ARGUMENT when
     * malformed, RESOURCE_EXHAUSTED when a text is too long.
     */
    Servable read(LimitedReader in, Servable before) {
        String name = before.name();
        OptionalLong version = before.version();
        Optional<String> label = before.label();
        String signature = before.signature();
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int start = in.advance(length);
            switch (WireReader.field(tag)) {
                case NAME -> name = in.text(texts, start, length, "the model's name");
                case VERSION -> {
                    version = OptionalLong.of(in.numberIn(start, length, WRAPPED));
                    label = Optional.empty();
                }
                case VERSION_LABEL -> {
                    label = Optional.of(in.text(texts, start, length, "the label of the version"));
                    version = OptionalLong.empty();
                }
                case SIGNATURE_NAME -> signature = in.text(texts, start, length, "the signature's name");
                default -> {
                    // A field of a newer protocol.
                }
            }
        }
        return new Servable(name, version, label, signature);
    }
}
