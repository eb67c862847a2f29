// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.configuration.StateTensor;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One state of the sequences whose steps run together, as the model gets it and gives it back. A single row is read
 * from the sequence's own buffer, and the written one becomes the sequence's; several rows are gathered and shared out.
 * Reused for all runs. Used by the instance's thread only.
 */
final class StateExchange {
    private final int index;
    private final StateTensor rule;
    private final ModelSignature signature;
    private final BufferPool pool;

    /** The sequences in the order of the rows; empty for a row without a step. */
    private List<Optional<SequenceState>> rows = List.of();

    private @Nullable Tensor input;
    private @Nullable Buffer gathered;
    private @Nullable Buffer given;
    private @Nullable Shape givenShape;

    /** Where the model gives the state when not in {@link #given}: in the memory that it read the state from. */
    private @Nullable MemorySegment inPlace;

    /** Buffers that a state outgrew during the run, which may still be read. */
    private final List<Buffer> outgrown = new ArrayList<>();

    /** Where each row begins in the state that the model gave, and the end of the last; written by {@link #prepare}. */
    private long[] starts = {0};

    /** Buffers for states whose own do not suit any more, by row; null where they do. */
    private @Nullable Buffer[] spares = {};

    /** @param index the place of the state among the model's */
    StateExchange(int index, StateTensor rule, ModelSignature signature, BufferPool pool) {
        this.index = index;
        this.rule = rule;
        this.signature = signature;
        this.pool = pool;
    }

    StateTensor rule() {
        return rule;
    }

    void begin(List<Optional<SequenceState>> sequences) {
        rows = sequences;
    }

    /** Name, datatype and shape of the state as the model gets it. */
    TensorSpec inputSpec() {
        Shape shape = present().shape(index);
        return new TensorSpec(
                rule.inputName(), rule.datatype(), signature.batching() ? shape.prepend(rows.size()) : shape);
    }

    /** Any sequence of the run: all have states of the same shape. */
    private SequenceState present() {
        for (Optional<SequenceState> row : rows) {
            if (row.isPresent()) {
                return row.get();
            }
        }
        throw new AssertionError("a run without steps");
    }

    Tensor input() {
        Tensor known = input;
        if (known == null) {
            known = new Tensor(inputSpec(), rows.size() == 1 ? present().bytes(index) : gather());
            input = known;
        }
        return known;
    }

    private MemorySegment gather() {
        long emptyByteSize = emptyRowByteSize();
        long byteSize = 0;
        for (Optional<SequenceState> row : rows) {
            byteSize += row.isPresent() ? row.get().bytes(index).byteSize() : emptyByteSize;
        }
        Buffer buffer = pool.take(byteSize);
        gathered = buffer;
        long at = 0;
        for (Optional<SequenceState> row : rows) {
            if (row.isPresent()) {
                MemorySegment bytes = row.get().bytes(index);
                TensorCopy.copy(bytes, buffer.segment().asSlice(at, bytes.byteSize()));
                at += bytes.byteSize();
            } else {
                buffer.segment().asSlice(at, emptyByteSize).fill((byte) 0);
                at += emptyByteSize;
            }
        }
        return buffer.segment();
    }

    /** The bytes of a row that no sequence has: zeros, which are empty strings too. */
    private long emptyRowByteSize() {
        Shape shape = present().shape(index);
        return rule.datatype() == Datatype.BYTES
                ? shape.elementCount() * BytesCodec.LENGTH_BYTES
                : shape.byteSize(rule.datatype());
    }

    /** Memory for the model's new state. Throws INTERNAL when it does not match the configuration. */
    MemorySegment output(Datatype datatype, Shape shape, long byteSize) {
        Shape dims = signature.batching() && shape.rank() > 0 ? shape.withoutFirst() : shape;
        boolean suits = datatype == rule.datatype() && rule.dims().accepts(dims);
        if (!suits || (signature.batching() && shape.dim(0) != rows.size())) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected " + datatype.wireName() + " " + shape + " for state '" + rule.outputName()
                            + "' of model '" + signature.modelName() + "': expected "
                            + rule.datatype().wireName() + " "
                            + (signature.batching() ? rule.dims().prepend(rows.size()) : rule.dims()));
        }
        givenShape = dims;
        inPlace = null;
        release(given);
        given = null;
        if (rule.growable() && rows.size() == 1) {
            return grown(byteSize);
        }
        if (rule.sameBuffer()) {
            MemorySegment read = input().bytes();
            if (read.byteSize() == byteSize) {
                inPlace = read;
                return read;
            }
            requireGrowable(read.byteSize(), byteSize);
        }
        Buffer buffer = pool.take(byteSize);
        given = buffer;
        if (rule.growable()) {
            spread(input().bytes(), buffer.segment());
        }
        return buffer.segment();
    }

    private void requireGrowable(long readByteSize, long byteSize) {
        if (!rule.growable()) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "state '" + rule.outputName() + "' of model '" + signature.modelName() + "' has " + byteSize
                            + " bytes, expected " + readByteSize
                            + " as before: it is written where it was read, because of"
                            + " use_same_buffer_for_input_output;"
                            + " use_growable_memory lets it grow there");
        }
    }

    /** The sequence's own buffer, with as much room. What the model reads stays where it is until the run is over. */
    private MemorySegment grown(long byteSize) {
        SequenceState state = present();
        state.reserve(index, byteSize).ifPresent(outgrown::add);
        MemorySegment bytes = state.reserved(index, byteSize);
        inPlace = bytes;
        return bytes;
    }

    /** Copies the beginning of each row: a state that grows keeps its values. Not of strings. */
    private void spread(MemorySegment read, MemorySegment target) {
        if (rule.datatype() == Datatype.BYTES) {
            return;
        }
        long from = read.byteSize() / rows.size();
        long to = target.byteSize() / rows.size();
        for (int i = 0; i < rows.size(); i++) {
            MemorySegment.copy(read, i * from, target, i * to, Math.min(from, to));
        }
    }

    /** @throws GatunException INTERNAL when the model did not give the state */
    void requireGiven() {
        if (givenShape == null) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "the backend gave no state '" + rule.outputName() + "' of model '" + signature.modelName() + "'");
        }
    }

    Tensor output() {
        Shape dims = shape();
        MemorySegment bytes = inPlace == null ? given().segment() : inPlace;
        Shape shape = signature.batching() ? dims.prepend(rows.size()) : dims;
        return new Tensor(new TensorSpec(rule.outputName(), rule.datatype(), shape), bytes);
    }

    private Buffer given() {
        Buffer buffer = given;
        if (buffer == null) {
            throw new AssertionError("a state has a shape and no bytes");
        }
        return buffer;
    }

    private Shape shape() {
        Shape dims = givenShape;
        if (dims == null) {
            throw new IllegalStateException("state '" + rule.outputName() + "' was not given");
        }
        return dims;
    }

    /** Whether the model wrote into the sequence's own memory, so that the state changes even if the run fails. */
    boolean isWrittenInPlace() {
        return rows.size() == 1 && inPlace != null;
    }

    /** Prepares {@link #commit}, which cannot fail then. Throws UNAVAILABLE when memory is short. */
    void prepare() {
        int count = rows.size();
        if (count == 1) {
            return; // Its sequence gets the whole buffer.
        }
        starts = starts.length > count ? starts : new long[count + 1];
        spares = spares.length >= count ? spares : new Buffer[count];
        MemorySegment bytes = output().bytes();
        for (int i = 0; i < count; i++) {
            long byteSize = rowByteSize(bytes, starts[i]);
            starts[i + 1] = starts[i] + byteSize;
            if (rows.get(i).isPresent()) {
                spares[i] = rows.get(i).get().spareFor(index, byteSize).orElse(null);
            }
        }
    }

    /** Gives a row's sequence its new state. Called once for a row, after {@link #prepare}; never fails. */
    void commit(int row) {
        SequenceState state = rows.get(row).orElse(null);
        if (state == null) {
            return;
        }
        if (rows.size() > 1) {
            long byteSize = starts[row + 1] - starts[row];
            Buffer spare = spares[row];
            spares[row] = null;
            state.copy(index, shape(), output().bytes().asSlice(starts[row], byteSize), spare);
        } else if (inPlace != null) {
            state.resize(index, shape(), inPlace.byteSize());
        } else {
            Buffer whole = given();
            given = null;
            state.swap(index, shape(), whole);
        }
    }

    private long rowByteSize(MemorySegment whole, long at) {
        if (rule.datatype() != Datatype.BYTES) {
            return shape().byteSize(rule.datatype());
        }
        return BytesCodec.skip(whole, at, shape().elementCount()) - at;
    }

    /** Forgets the run; the sequences keep their states, those that were committed included. */
    void clear() {
        rows = List.of();
        input = null;
        givenShape = null;
        release(gathered);
        gathered = null;
        release(given);
        given = null;
        inPlace = null;
        outgrown.forEach(Buffer::close);
        outgrown.clear();
        for (int i = 0; i < spares.length; i++) {
            release(spares[i]);
            spares[i] = null;
        }
    }

    private static void release(@Nullable Buffer buffer) {
        if (buffer != null) {
            buffer.close();
        }
    }
}
