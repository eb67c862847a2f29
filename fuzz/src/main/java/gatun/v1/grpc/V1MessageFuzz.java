// SPDX-License-Identifier: Apache-2.0
package gatun.v1.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.v1.InferRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.Optional;

/** InferRequest messages of v1: as {@code InferMessageFuzz}. */
public final class V1MessageFuzz {
    private static final long HEAP_BYTES = 64 << 20;
    private static final InferDecoder DECODER = new InferDecoder(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES));

    private V1MessageFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        Optional<InferRequest> theirs = protobuf(input);
        FuzzInput.run(input, () -> {
            if (read(input).isPresent()) {
                FuzzInput.require(theirs.isPresent(), "a message that protobuf refuses is read");
            }
        });
        theirs.ifPresent(message ->
                FuzzInput.requireEqual(read(message.toByteArray()), Optional.of(shown(message)), "a message"));
    }

    private static Optional<InferRequest> protobuf(byte[] input) {
        try {
            return Optional.of(InferRequest.parseFrom(input));
        } catch (InvalidProtocolBufferException e) {
            return Optional.empty();
        }
    }

    private static Optional<String> read(byte[] input) {
        try (Arena arena = Arena.ofConfined();
                V1InferMessage message = DECODER.decode(FuzzInput.inMemory(arena, input))) {
            StringBuilder text =
                    new StringBuilder(message.modelName + " " + message.modelVersion + " " + message.header);
            for (int i = 0; i < message.rawCount(); i++) {
                text.append(" ").append(HexFormat.of().formatHex(message.raw(i).toArray(ValueLayout.JAVA_BYTE)));
            }
            return Optional.of(text.toString());
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String shown(InferRequest message) {
        StringBuilder text = new StringBuilder(
                message.getModelName() + " " + message.getModelVersion() + " " + message.getMetaData());
        message.getRawInputList()
                .forEach(raw -> text.append(" ").append(HexFormat.of().formatHex(raw.toByteArray())));
        return text.toString();
    }
}
