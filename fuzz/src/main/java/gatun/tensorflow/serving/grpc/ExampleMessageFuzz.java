// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.MessageLite;
import gatun.fuzz.AskedModel;
import gatun.fuzz.Elements;
import gatun.fuzz.FuzzInput;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.Servable;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.Input;
import gatun.wire.tensorflow.serving.MultiInferenceRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * Messages with examples, of which Classify and Regress take the same: as {@code InferMessageFuzz}, with the examples
 * that the model is given. The first byte chooses whether it is a MultiInferenceRequest.
 */
public final class ExampleMessageFuzz {
    private static final long HEAP_BYTES = 64 << 20;
    private static final ExampleDecoder DECODER =
            new ExampleDecoder(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES));
    private static final BufferPool POOL = new BufferPool(1 << 20);
    private static final AskedModel MODEL = new AskedModel(
            List.of(new TensorSpec("inputs", Datatype.BYTES, Shape.of(Shape.VARIABLE))),
            List.of(new TensorSpec("outputs", Datatype.FP32, Shape.of(Shape.VARIABLE))));
    private static final ExampleSignature SIGNATURE =
            ExampleSignature.of(MODEL, ExampleMethod.REGRESS, ServableReader.NOTHING, false);

    private ExampleMessageFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        boolean several = (input[0] & 1) != 0;
        byte[] bytes = Arrays.copyOfRange(input, 1, input.length);
        FuzzInput.run(input, () -> read(bytes, several));
        try {
            if (several) {
                MultiInferenceRequest theirs = MultiInferenceRequest.parseFrom(bytes);
                compare(theirs, tasks(theirs), theirs.getInput(), true);
            } else {
                ClassificationRequest theirs = ClassificationRequest.parseFrom(bytes);
                String servable = theirs.hasModelSpec() + " " + Servable.of(theirs.getModelSpec());
                compare(theirs, servable, theirs.getInput(), false);
            }
        } catch (InvalidProtocolBufferException e) {
            // Ours looks into examples only when they are used.
        }
        FuzzInput.requireEqual(POOL.usedBytes(), 0L, "bytes that are lent");
    }

    private static void compare(MessageLite theirs, String asked, Input input, boolean several) {
        Optional<String> examples = examples(input);
        String expected = asked + " " + examples.orElse("no examples");
        FuzzInput.requireEqual(read(theirs.toByteArray(), several), Optional.of(expected), "a message");
    }

    private static String tasks(MultiInferenceRequest message) {
        List<ExampleMessage.Task> tasks = new ArrayList<>();
        message.getTasksList()
                .forEach(task ->
                        tasks.add(new ExampleMessage.Task(Servable.of(task.getModelSpec()), task.getMethodName())));
        return tasks.toString();
    }

    /** The examples as elements, each behind the context; empty where there are none. */
    private static Optional<String> examples(Input input) {
        ByteString context = input.getExampleListWithContext().getContext().toByteString();
        List<Example> examples = input.hasExampleList()
                ? input.getExampleList().getExamplesList()
                : input.getExampleListWithContext().getExamplesList();
        Elements elements = new Elements();
        examples.forEach(example ->
                elements.addString(context.concat(example.toByteString()).toByteArray()));
        boolean taken = !examples.isEmpty() && elements.byteSize() <= POOL.largestByteSize();
        return taken ? Optional.of(elements.hex()) : Optional.empty();
    }

    private static Optional<String> read(byte[] bytes, boolean several) {
        try (Arena arena = Arena.ofConfined();
                ExampleMessage message = several
                        ? DECODER.decodeTasks(FuzzInput.inMemory(arena, bytes))
                        : DECODER.decode(FuzzInput.inMemory(arena, bytes))) {
            String asked = several ? message.tasks.toString() : message.hasServable + " " + message.servable;
            return Optional.of(asked + " " + examples(message));
        } catch (GatunException e) {
            return Optional.empty();
        }
    }

    private static String examples(ExampleMessage message) {
        try (InferenceRequest request = new InferenceRequest(MODEL)) {
            message.input().ask(SIGNATURE, request, POOL);
            return HexFormat.of().formatHex(request.inputs().getFirst().bytes().toArray(ValueLayout.JAVA_BYTE));
        } catch (GatunException e) {
            return "no examples";
        }
    }
}
