// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneDatatypes;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceResponse;
import gatun.spi.ParameterValue;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Writes responses into slots; reads nothing there. Stateless and safe for any thread. */
final class SlotResponse {
    /** gRPC's number for a request that was not answered in time, for which the runtime has no code. */
    static final int DEADLINE_EXCEEDED = 4;

    private static final int OK = 0;

    /** Kinds of a parameter's value in the response's text. */
    private static final byte KIND_BOOL = 1;

    private static final byte KIND_INT64 = 2;
    private static final byte KIND_UINT64 = 3;
    private static final byte KIND_FP64 = 4;
    private static final byte KIND_TEXT = 5;

    private SlotResponse() {}

    static void writeFailure(LaneMemory lane, long slotOffset, int code, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        int count = bytes.length;
        if (count > SlotLayout.ANSWER_TEXT_BYTES) {
            count = SlotLayout.ANSWER_TEXT_BYTES;
            // Not in the middle of a character.
            while ((bytes[count] & 0xC0) == 0x80) {
                count--;
            }
        }
        lane.setInt(slotOffset + SlotLayout.CODE, code);
        lane.setInt(slotOffset + SlotLayout.OUTPUTS, 0);
        lane.setInt(slotOffset + SlotLayout.ANSWER_BYTES, count);
        lane.setBytes(slotOffset + SlotLayout.ANSWER_TEXT, bytes, count);
    }

    /** Writes a response without outputs. */
    static void writeEnd(LaneMemory lane, long slotOffset) {
        lane.setInt(slotOffset + SlotLayout.CODE, OK);
        lane.setInt(slotOffset + SlotLayout.OUTPUTS, 0);
        lane.setInt(slotOffset + SlotLayout.ANSWER_BYTES, 0);
    }

    /** Writes all of a response but its outputs. Throws RESOURCE_EXHAUSTED without room for its parameters. */
    static void writeHead(LaneMemory lane, long slotOffset, InferenceResponse response) {
        lane.setInt(slotOffset + SlotLayout.CODE, OK);
        lane.setInt(slotOffset + SlotLayout.OUTPUTS, response.outputs().size());
        Map<String, ParameterValue> parameters = response.parameters();
        if (parameters.isEmpty()) {
            lane.setInt(slotOffset + SlotLayout.ANSWER_BYTES, 0);
            return;
        }
        ByteBuffer text = ByteBuffer.allocate(SlotLayout.ANSWER_TEXT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (Map.Entry<String, ParameterValue> parameter : parameters.entrySet()) {
            put(text, parameter.getKey(), parameter.getValue());
        }
        lane.setInt(slotOffset + SlotLayout.ANSWER_BYTES, text.position());
        lane.setBytes(slotOffset + SlotLayout.ANSWER_TEXT, text.array(), text.position());
    }

    static void writeOutput(LaneMemory lane, long tensorOffset, Tensor output) {
        Shape shape = output.spec().shape();
        int rank = shape.rank();
        if (rank > SlotLayout.MAX_RANK) {
            throw GatunException.invalidArgument("output '" + output.spec().name() + "' has " + rank
                    + " dimensions: expected " + SlotLayout.MAX_RANK + " at most in a lane");
        }
        lane.setInt(tensorOffset + SlotLayout.RANK, rank);
        for (int i = 0; i < rank; i++) {
            lane.setLong(tensorOffset + SlotLayout.DIMS + (long) Long.BYTES * i, shape.dim(i));
        }
        lane.setLong(tensorOffset + SlotLayout.WRITTEN_BYTES, output.byteSize());
        lane.setInt(
                tensorOffset + SlotLayout.DATATYPE,
                LaneDatatypes.number(output.spec().datatype()));
    }

    static void writeAbsent(LaneMemory lane, long tensorOffset) {
        lane.setInt(tensorOffset + SlotLayout.RANK, SlotLayout.ABSENT);
    }

    private static void put(ByteBuffer target, String name, ParameterValue value) {
        byte[] key = name.getBytes(StandardCharsets.UTF_8);
        byte kind;
        byte[] bytes;
        switch (value) {
            case ParameterValue.Bool bool -> {
                kind = KIND_BOOL;
                bytes = new byte[] {(byte) (bool.value() ? 1 : 0)};
            }
            case ParameterValue.Int64 number -> {
                kind = KIND_INT64;
                bytes = bytes(number.value());
            }
            case ParameterValue.Uint64 number -> {
                kind = KIND_UINT64;
                bytes = bytes(number.value());
            }
            case ParameterValue.Fp64 number -> {
                kind = KIND_FP64;
                bytes = bytes(Double.doubleToRawLongBits(number.value()));
            }
            case ParameterValue.Text text -> {
                kind = KIND_TEXT;
                bytes = text.value().getBytes(StandardCharsets.UTF_8);
            }
        }
        if (1 + 2 * Integer.BYTES + key.length + bytes.length > target.remaining()) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the response's parameters do not fit a slot of the lane, which has room for "
                            + SlotLayout.ANSWER_TEXT_BYTES + " bytes: ask over HTTP or gRPC");
        }
        target.put(kind).putInt(key.length).putInt(bytes.length).put(key).put(bytes);
    }

    private static byte[] bytes(long value) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(value)
                .array();
    }
}
