// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.tensorflow.serving.Servable;
import gatun.wire.tensorflow.serving.PredictRequest;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** PredictRequest messages: as {@code InferMessageFuzz}, for TensorFlow Serving. */
public final class PredictMessageFuzz {
    private static final long HEAP_BYTES = 64 << 20;
    private static final PredictDecoder DECODER =
            new PredictDecoder(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES));
    private static final int ALIGNMENT = 64;

    private PredictMessageFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            int offset = PredictDecoder.landingOffset(ByteBuffer.wrap(input));
            FuzzInput.require(offset >= 0 && offset < ALIGNMENT, "a message is put " + offset + " bytes further");
            read(input);
        });
        try {
            PredictRequest theirs = PredictRequest.parseFrom(input);
            FuzzInput.requireEqual(read(theirs.toByteArray()), Optional.of(shown(theirs)), "a message");
        } catch (InvalidProtocolBufferException e) {
            // Ours looks into a tensor only when it is used.
        }
    }

    private static Optional<String> read(byte[] input) {
        try (Arena arena = Arena.ofConfined();
                PredictMessage message = DECODER.decode(FuzzInput.inMemory(arena, input))) {
            Map<String, Integer> inputs = new TreeMap<>();
            message.inputs.forEach(tensor -> inputs.put(tensor.name, tensor.dtype));
            return Optional.of(
                    message.hasServable + " " + message.servable + " " + inputs + " " + message.outputFilter);
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String shown(PredictRequest message) {
        Map<String, Integer> inputs = new TreeMap<>();
        message.getInputsMap().forEach((name, tensor) -> inputs.put(name, tensor.getDtypeValue()));
        return message.hasModelSpec() + " " + Servable.of(message.getModelSpec()) + " " + inputs + " "
                + message.getOutputFilterList();
    }
}
