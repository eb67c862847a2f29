// SPDX-License-Identifier: Apache-2.0
package gatun.client.lane;

import gatun.client.InferInput;
import gatun.client.InferOutput;
import gatun.client.InferRequest;
import gatun.client.InferResponse;
import gatun.client.MalformedResponseException;
import gatun.client.ServerException;
import gatun.client.StatusCode;
import gatun.client.lane.ClientLane.PreparedNumber;
import gatun.memory.lane.LaneDatatypes;
import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout;
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

/** A request for slots of one lane, encoded once and copied by each call. Immutable but for its last response. */
final class LaneRequest {
    private static final int TENSOR_WORDS = (int) (SlotLayout.TENSOR_BYTES / Long.BYTES);
    private static final int DIMS_WORD = (int) (SlotLayout.DIMS / Long.BYTES);
    private static final int OFFSET_WORD = (int) (SlotLayout.OFFSET / Long.BYTES);
    private static final int SIZE_WORD = (int) (SlotLayout.BYTE_SIZE / Long.BYTES);

    private final ClientLane lane;
    private final PreparedNumber prepared;
    private final int flags;
    private final long sequence;
    private final byte[] texts;
    private final int idBytes;
    private final long[] tensors;
    private final int inputCount;
    private final SlotResponseReader responses;
    private volatile int slot;

    /** {@code request}, which was prepared for {@code lane} and {@link #fits}. */
    LaneRequest(ClientLane lane, PreparedNumber prepared, InferRequest request, List<String> regions) {
        this.lane = lane;
        this.prepared = prepared;
        Object named = request.parameters().get("sequence_id");
        int said = 0;
        if (Boolean.TRUE.equals(request.parameters().get("sequence_start"))) {
            said |= SlotLayout.SEQUENCE_START;
        }
        if (Boolean.TRUE.equals(request.parameters().get("sequence_end"))) {
            said |= SlotLayout.SEQUENCE_END;
        }
        String sequenceName = named instanceof String text ? text : "";
        if (!sequenceName.isEmpty()) {
            said |= SlotLayout.SEQUENCE_TEXT;
        }
        this.flags = said;
        this.sequence = named instanceof Long number ? number : 0;
        this.texts = (request.id() + sequenceName).getBytes(StandardCharsets.UTF_8);
        this.idBytes = request.id().getBytes(StandardCharsets.UTF_8).length;
        this.inputCount = request.inputs().size();
        this.tensors = tensors(request, regions);
        this.responses = new SlotResponseReader(request, inputCount);
    }

    /** Whether a request can go through a lane: all its tensors lie in regions, and a slot has room for it. */
    static boolean fits(InferRequest request) {
        List<InferInput> inputs = request.inputs();
        List<InferOutput> outputs = request.outputs();
        if (outputs.isEmpty() || inputs.size() + outputs.size() > ClientLane.TENSORS) {
            return false;
        }
        for (int i = 0; i < inputs.size(); i++) {
            if (!(inputs.get(i) instanceof InferInput.InRegion input)
                    || input.spec().shape().rank() > SlotLayout.MAX_RANK) {
                return false;
            }
        }
        for (int i = 0; i < outputs.size(); i++) {
            if (!(outputs.get(i) instanceof InferOutput.InRegion)) {
                return false;
            }
        }
        // Both texts together have room for 256 bytes; each character takes four at most.
        Object sequence =
                request.parameters().isEmpty() ? null : request.parameters().get("sequence_id");
        int letters = request.id().length() + (sequence instanceof String text ? text.length() : 0);
        return letters <= SlotLayout.REQUEST_TEXT_BYTES / 4;
    }

    static List<String> regions(InferRequest request) {
        List<String> regions = new ArrayList<>();
        for (InferInput input : request.inputs()) {
            if (input instanceof InferInput.InRegion window && !regions.contains(window.region())) {
                regions.add(window.region());
            }
        }
        for (InferOutput output : request.outputs()) {
            if (output instanceof InferOutput.InRegion window && !regions.contains(window.region())) {
                regions.add(window.region());
            }
        }
        return regions;
    }

    ClientLane lane() {
        return lane;
    }

    PreparedNumber prepared() {
        return prepared;
    }

    /** The slot of the last call, where the server finds its prepared state. */
    int slot() {
        return slot;
    }

    void slot(int number) {
        slot = number;
    }

    SlotResponseReader responses() {
        return responses;
    }

    /** Fills a slot. {@code deadline} is 0 for none; {@code core} is lent while the call waits, negative for none. */
    void write(LaneMemory memory, long slotOffset, long deadline, int core) {
        memory.setInt(slotOffset + SlotLayout.PREPARED, prepared.number());
        memory.setInt(slotOffset + SlotLayout.FLAGS, flags);
        memory.setLong(slotOffset + SlotLayout.SEQUENCE, sequence);
        memory.setLong(slotOffset + SlotLayout.DEADLINE, deadline);
        memory.setInt(slotOffset + SlotLayout.ID_BYTES, idBytes);
        memory.setInt(slotOffset + SlotLayout.SEQUENCE_BYTES, texts.length - idBytes);
        memory.setInt(slotOffset + SlotLayout.CALLER_CORE, core + 1);
        if (texts.length > 0) {
            memory.setBytes(slotOffset + SlotLayout.REQUEST_TEXT, texts, texts.length);
        }
        memory.setLongs(slotOffset + SlotLayout.TENSORS, tensors, tensors.length);
    }

    private static long[] tensors(InferRequest request, List<String> regions) {
        long[] words = new long[(request.inputs().size() + request.outputs().size()) * TENSOR_WORDS];
        int at = 0;
        for (InferInput input : request.inputs()) {
            if (input instanceof InferInput.InRegion window) {
                Shape shape = window.spec().shape();
                put(words, at, regions.indexOf(window.region()), window.offset(), window.byteSize());
                words[at] |= (long) shape.rank() << Integer.SIZE;
                for (int i = 0; i < shape.rank(); i++) {
                    words[at + DIMS_WORD + i] = shape.dim(i);
                }
            }
            at += TENSOR_WORDS;
        }
        for (InferOutput output : request.outputs()) {
            if (output instanceof InferOutput.InRegion window) {
                put(words, at, regions.indexOf(window.region()), window.offset(), window.byteSize());
            }
            at += TENSOR_WORDS;
        }
        return words;
    }

    private static void put(long[] words, int at, int region, long offset, long byteSize) {
        // The lane's own data is region 0; those of the prepared request follow.
        words[at] = region + 1L;
        words[at + OFFSET_WORD] = offset;
        words[at + SIZE_WORD] = byteSize;
    }

    /** Reads responses to one request from slots, and remembers the last's form. Thread-safe. */
    static final class SlotResponseReader {
        private final String model;
        private final String id;
        private final String[] outputs;
        private final int inputCount;

        /** The last response without parameters. Immutable; a race is harmless. */
        private volatile @Nullable Known last;

        private record Known(long version, InferResponse response) {}

        SlotResponseReader(InferRequest request, int inputCount) {
            this.model = request.model();
            this.id = request.id();
            this.outputs = request.outputs().stream().map(InferOutput::name).toArray(String[]::new);
            this.inputCount = inputCount;
        }

        /** Reads a response. Throws {@link ServerException} when it is an error. */
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
}
