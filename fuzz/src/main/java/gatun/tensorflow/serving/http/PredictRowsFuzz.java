// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.fuzz.AskedModel;
import gatun.fuzz.FuzzInput;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.spi.EntryTensor;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Predict requests of TensorFlow Serving's REST API, in rows and in columns: read in one pass, or after the whole
 * document was scanned, they give the same tensors or the same refusal. The first byte chooses the model's inputs.
 */
public final class PredictRowsFuzz {
    private static final TensorSpec FLOATS = new TensorSpec("x", Datatype.FP32, Shape.of(-1));
    private static final TensorSpec INTEGERS = new TensorSpec("y", Datatype.INT32, Shape.of(-1));
    private static final TensorSpec STRINGS = new TensorSpec("x", Datatype.BYTES, Shape.of(-1));
    private static final TensorSpec[][] MODELS = {{FLOATS}, {FLOATS, INTEGERS}, {STRINGS}};
    private static final long POOL_BYTES = 64L << 20;

    private static final BufferPool POOL = new BufferPool(POOL_BYTES);

    private static final long HEAP_BYTES = 64 << 20;

    private PredictRowsFuzz() {}

    /** Reads the input as a request. */
    public static void fuzzerTestOneInput(byte[] input) {
        if (input.length == 0) {
            return;
        }
        TensorSpec[] model = MODELS[(input[0] & 0xff) % MODELS.length];
        byte[] json = Arrays.copyOfRange(input, 1, input.length);
        FuzzInput.run(
                input,
                () -> FuzzInput.requireEqual(
                        outcome(json, true, model), outcome(json, false, model), "the request in one pass"));
        FuzzInput.require(POOL.usedBytes() == 0, "buffers were kept");
    }

    private static String outcome(byte[] json, boolean passOver, TensorSpec... inputs) {
        try (Arena arena = Arena.ofConfined();
                RequestUsage usage = new RequestUsage(RequestLimits.STANDARD, new HeapBudget(HEAP_BYTES))) {
            MemorySegment text = FuzzInput.inMemory(arena, json);
            RequestDocument document = passOver
                    ? RequestDocument.forPredict(text, 0, json.length, usage)
                    : RequestDocument.forExamples(text, 0, json.length, usage);
            ModelVersion model = AskedModel.taking(List.of(inputs));
            List<EntryTensor> entries = Arrays.stream(inputs)
                    .map(spec -> new EntryTensor(spec, false, spec.name()))
                    .toList();
            try (InferenceRequest request = new InferenceRequest(model);
                    PredictReader reader = new PredictReader(POOL, document, model, entries)) {
                boolean rows = reader.readInto(request);
                return document.signatureName() + " " + rows + " "
                        + request.inputs().stream().map(PredictRowsFuzz::shown).collect(Collectors.joining(" "));
            } catch (GatunException e) {
                throw document.firstFailure(e);
            }
        } catch (GatunException e) {
            return e.code() + " " + e.getMessage();
        }
    }

    private static String shown(Tensor tensor) {
        return tensor.spec() + " " + HexFormat.of().formatHex(tensor.bytes().toArray(ValueLayout.JAVA_BYTE));
    }
}
