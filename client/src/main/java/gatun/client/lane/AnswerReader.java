// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.lane.LaneDatatypes;
import gatun.lane.LaneMemory;
import gatun.lane.SlotLayout;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the answers to one request out of slots. Remembers what the last was like, since most are alike. Safe for any
 * thread.
 */
final class AnswerReader {
    private final String model;
    private final String id;
    private final String[] outputs;
    private final int inputCount;

    /** The last answer without parameters; immutable, and another's does no harm. */
    private volatile @Nullable Known last;

    private record Known(long version, InferResponse response) {}

    AnswerReader(InferRequest request, int inputCount) {
        this.model = request.model();
        this.id = request.id();
        this.outputs = request.outputs().stream().map(InferOutput::name).toArray(String[]::new);
        this.inputCount = inputCount;
    }

    /**
     * Reads an answer.
     *
     * @throws ServerException when it is an error
     */
    InferResponse read(LaneMemory memory, long slotOffset) {
        int code = memory.getInt(slotOffset + SlotLayout.CODE);
        if (code != 0) {
            throw failure(code, text(memory, slotOffset));
        }
        long version = memory.getLong(slotOffset + SlotLayout.VERSION);
        boolean plain = memory.getInt(slotOffset + SlotLayout.ANSWER_BYTES) == 0;
        Known known = last;
        if (plain
                && known != null
                && known.version == version
                && hasOutputs(memory, slotOffset, known.response.inRegions())) {
            return known.response;
        }
        InferResponse response = InferResponse.inRegions(
                model,
                Long.toUnsignedString(version),
                id,
                specs(memory, slotOffset),
                plain ? Map.of() : parameters(memory, slotOffset));
        if (plain) {
            last = new Known(version, response);
        }
        return response;
    }

    private boolean hasOutputs(LaneMemory memory, long slotOffset, List<TensorSpec> specs) {
        if (specs.size() != outputs.length) {
            return false;
        }
        for (int i = 0; i < outputs.length; i++) {
            TensorSpec spec = specs.get(i);
            long at = tensorOffset(slotOffset, i);
            Shape shape = spec.shape();
            if (memory.getInt(at + SlotLayout.RANK) != shape.rank()
                    || memory.getInt(at + SlotLayout.DATATYPE) != LaneDatatypes.number(spec.datatype())) {
                return false;
            }
            for (int j = 0; j < shape.rank(); j++) {
                if (memory.getLong(at + SlotLayout.DIMS + (long) Long.BYTES * j) != shape.dim(j)) {
                    return false;
                }
            }
        }
        return true;
    }

    private List<TensorSpec> specs(LaneMemory memory, long slotOffset) {
        List<TensorSpec> specs = new ArrayList<>(outputs.length);
        for (int i = 0; i < outputs.length; i++) {
            long at = tensorOffset(slotOffset, i);
            int rank = memory.getInt(at + SlotLayout.RANK);
            if (rank == SlotLayout.ABSENT) {
                continue;
            }
            if (rank < 0 || rank > SlotLayout.MAX_RANK) {
                throw new MalformedResponseException("output '" + outputs[i] + "' in a lane has " + rank
                        + " dimensions: expected at most " + SlotLayout.MAX_RANK);
            }
            long[] dims = new long[rank];
            memory.getLongs(at + SlotLayout.DIMS, dims, rank);
            specs.add(new TensorSpec(
                    outputs[i], LaneDatatypes.of(memory.getInt(at + SlotLayout.DATATYPE)), Shape.of(dims)));
        }
        return List.copyOf(specs);
    }

    private long tensorOffset(long slotOffset, int output) {
        return slotOffset + SlotLayout.TENSORS + (inputCount + output) * SlotLayout.TENSOR_BYTES;
    }

    private static ServerException failure(int number, byte[] text) {
        StatusCode code = StatusCode.UNKNOWN;
        for (StatusCode known : StatusCode.values()) {
            if (known.number() == number) {
                code = known;
            }
        }
        return new ServerException(code, number, new String(text, StandardCharsets.UTF_8));
    }

    private static byte[] text(LaneMemory memory, long slotOffset) {
        int count = memory.getInt(slotOffset + SlotLayout.ANSWER_BYTES);
        byte[] bytes = new byte[Math.clamp(count, 0, SlotLayout.ANSWER_TEXT_BYTES)];
        memory.getBytes(slotOffset + SlotLayout.ANSWER_TEXT, bytes, bytes.length);
        return bytes;
    }

    /** The parameters, each: kind, bytes of the name, bytes of the value, name, value. */
    private static Map<String, Object> parameters(LaneMemory memory, long slotOffset) {
        ByteBuffer text = ByteBuffer.wrap(text(memory, slotOffset)).order(ByteOrder.LITTLE_ENDIAN);
        Map<String, Object> parameters = new LinkedHashMap<>();
        while (text.hasRemaining()) {
            byte kind = text.get();
            byte[] name = new byte[text.getInt()];
            byte[] value = new byte[text.getInt()];
            text.get(name).get(value);
            ByteBuffer number = ByteBuffer.wrap(value).order(ByteOrder.LITTLE_ENDIAN);
            parameters.put(
                    new String(name, StandardCharsets.UTF_8),
                    switch (kind) {
                        case 1 -> value[0] != 0;
                        case 2, 3 -> number.getLong();
                        case 4 -> number.getDouble();
                        default -> new String(value, StandardCharsets.UTF_8);
                    });
        }
        return parameters;
    }
}
