// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.SideBySide;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.statistics.ResponseTable;
import gatun.spi.ExecutionRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One run of an instance for several requests: their inputs become one tensor each, and its outputs are shared out among them, once at the
 * end, or for a decoupled model with each response. Inputs that lie side by side already are not copied; neither are outputs that go to the
 * network, or to windows side by side. One object serves all runs of the instance, one after the other; used by the instance's thread only.
 */
class BatchExecution extends TimedExecution {
    private final BufferPool pool;
    /** What becomes of single responses; null unless the model is decoupled. */
    private final @Nullable ResponseTable responses;

    private final List<InferenceTicket> tickets = new ArrayList<>();
    private final List<OutputRule> rules = new ArrayList<>();
    private final List<BatchOutput> outputs = new ArrayList<>();

    /** The entry point that the present run is for, or the last one was. */
    private ModelSignature signature;

    /** What serves each of the entry point's outputs where it is wanted; kept, as a run would otherwise make them anew. */
    private BatchOutput[] allOutputs;

    /** The same of all entry points that have been asked for. */
    private final Map<ModelSignature, BatchOutput[]> outputsOfEntryPoints = new HashMap<>();

    private final List<Buffer> gathered = new ArrayList<>();
    private final List<MemorySegment> pieces = new ArrayList<>();

    /** The inputs that were asked for. */
    private @Nullable Tensor[] inputs = {};

    private int rows;

    /** The rows that the backend gets: those of the requests, and what they are padded with. */
    private int runRows;

    private int sent;

    /** @param responses where the single responses of a decoupled model are counted; null for any other */
    BatchExecution(ModelSignature signature, BufferPool pool, @Nullable ResponseTable responses) {
        super(pool);
        this.pool = pool;
        this.responses = responses;
        this.signature = signature;
        allOutputs = outputsOf(signature);
        outputsOfEntryPoints.put(signature, allOutputs);
    }

    private BatchOutput[] outputsOf(ModelSignature asked) {
        BatchOutput[] made = new BatchOutput[asked.outputCount()];
        for (int i = 0; i < made.length; i++) {
            made[i] = new BatchOutput(asked.output(i), asked, pool, tickets);
        }
        return made;
    }

    @SuppressWarnings("ReferenceEquality") // a model has one signature for each entry point
    private void turnTo(ModelSignature asked) {
        if (asked != signature) {
            signature = asked;
            allOutputs = outputsOfEntryPoints.computeIfAbsent(asked, this::outputsOf);
        }
    }

    /** Begins a run for tickets that all {@linkplain InferenceTicket#joins join} the first. */
    void begin(List<InferenceTicket> batch) {
        start();
        tickets.addAll(batch);
        turnTo(batch.getFirst().signature());
        int inputCount = batch.getFirst().inputCount();
        if (inputs.length != inputCount) {
            inputs = new Tensor[inputCount];
        }
        for (InferenceTicket ticket : batch) {
            rows += ticket.batchSize();
        }
        runRows = signature.runSize(rows);
        for (int i = 0; i < signature.outputCount(); i++) {
            OutputRule rule = signature.output(i);
            if (isWanted(rule)) {
                rules.add(rule);
                outputs.add(allOutputs[i]);
            }
        }
        if (responses != null) {
            for (InferenceTicket ticket : batch) {
                if (isAsked(ticket)) {
                    ticket.progress().begin(startedNanos());
                }
            }
        }
    }

    /** Whether somebody waits for the answer to {@code ticket}, which is not only there to fill a gap. */
    boolean isAsked(InferenceTicket ticket) {
        return true;
    }

    /** Whether some request wants that output. */
    boolean isWanted(OutputRule rule) {
        for (InferenceTicket ticket : tickets) {
            if (ticket.indexOf(rule) >= 0) {
                return true;
            }
        }
        return false;
    }

    /** How many requests run. */
    final int ticketCount() {
        return tickets.size();
    }

    /** The request that stands at {@code index} in the batch. */
    final InferenceTicket ticket(int index) {
        return tickets.get(index);
    }

    final String modelName() {
        return signature.modelName();
    }

    /** The rows of the batch: the sum of its requests' batch sizes. */
    final int batchSize() {
        return rows;
    }

    /**
     * Shares the outputs out, and ends each request's use of its regions. A request to which that is not possible fails alone.
     *
     * @throws GatunException when the backend did not give an output
     */
    void finish() {
        if (responses != null) {
            finishAnswers(responses);
        } else {
            finishResponse();
        }
        end();
    }

    private void finishResponse() {
        if (sent > 1) {
            throw new GatunException(ErrorCode.INTERNAL, "expected a single response, got " + sent);
        }
        if (isAnyoneDone()) {
            outputs.forEach(BatchOutput::shareOut);
        }
        for (InferenceTicket ticket : tickets) {
            if (isDone(ticket)) {
                settle(ticket);
            }
        }
    }

    private boolean isAnyoneDone() {
        for (InferenceTicket ticket : tickets) {
            if (isDone(ticket)) {
                return true;
            }
        }
        return false;
    }

    /** Whether this run ends what somebody asked for, by an answer. */
    private boolean isDone(InferenceTicket ticket) {
        return isAsked(ticket) && !ticket.hasFailed() && !ticket.runsAgain();
    }

    /** Ends a request's use of its regions, which can fail it. */
    private void settle(InferenceTicket ticket) {
        try {
            ticket.settle();
            answered(ticket);
        } catch (GatunException broken) {
            ticket.fail(broken);
        }
    }

    /** Sends what the backend made and did not send, which is the last response of those whose answers end here. */
    private void finishAnswers(ResponseTable table) {
        long madeNanos = System.nanoTime();
        shareMade();
        for (InferenceTicket ticket : tickets) {
            if (!isAsked(ticket) || ticket.hasFailed()) {
                continue;
            }
            boolean sentLast = ticket.isAnythingMade() && send(ticket, table, madeNanos, !ticket.runsAgain());
            if (isDone(ticket)) {
                if (!sentLast) {
                    ticket.progress().ended(table);
                }
                answered(ticket);
            }
        }
    }

    private void shareMade() {
        for (BatchOutput output : outputs) {
            if (output.isMade()) {
                output.shareOut();
            }
        }
    }

    /** Sends a request what was made for it; false when it is left out, or could not have it and has failed. */
    private boolean send(InferenceTicket ticket, ResponseTable table, long madeNanos, boolean last) {
        try {
            ticket.settle();
            boolean sentNow = ticket.send(last);
            if (sentNow) {
                ticket.progress().sent(table, madeNanos);
            }
            return sentNow;
        } catch (GatunException e) {
            ticket.progress().brokenOff(table, ticket.isUnwanted());
            ticket.fail(e);
            return false;
        }
    }

    /** Notes that the run failed, or was told to stop. */
    void brokenOff() {
        if (responses == null) {
            return;
        }
        for (InferenceTicket ticket : tickets) {
            if (isAsked(ticket) && !ticket.hasFailed()) {
                ticket.progress().brokenOff(responses, ticket.isUnwanted());
            }
        }
    }

    private void requireRunning() {
        if (tickets.isEmpty() || !isRunner()) {
            throw afterRun();
        }
    }

    /** Forgets the run, so that nothing of its requests is kept alive, but for its times. */
    void clear() {
        end();
        forget();
        outputs.forEach(BatchOutput::close);
        gathered.forEach(Buffer::close);
        outputs.clear();
        rules.clear();
        gathered.clear();
        tickets.clear();
        Arrays.fill(inputs, null);
        rows = 0;
        runRows = 0;
        sent = 0;
    }

    @Override
    public List<ExecutionRequest> requests() {
        requireRunning();
        return Collections.unmodifiableList(tickets);
    }

    /** Sends each request its rows when the model is decoupled; otherwise counts only, since the responses are made at the end. */
    @Override
    public void send() {
        requireRunning();
        if (responses == null) {
            sent++;
            return;
        }
        long madeNanos = System.nanoTime();
        shareMade();
        GatunException failure = null;
        boolean wanted = false;
        for (InferenceTicket ticket : tickets) {
            if (isAsked(ticket)) {
                if (!ticket.hasFailed()) {
                    send(ticket, responses, madeNanos, false);
                }
                wanted |= !ticket.hasFailed();
                failure = ticket.failure().orElse(failure);
            }
        }
        outputs.forEach(BatchOutput::close);
        if (!wanted && failure != null) {
            throw refuse(failure);
        }
    }

    @Override
    public String entryPoint() {
        return signature.entryPoint().name();
    }

    @Override
    public int inputCount() {
        return inputs.length;
    }

    @Override
    public TensorSpec inputSpec(int index) {
        TensorSpec first = tickets.getFirst().input(index).spec();
        Shape shape = signature.padsShapes()
                ? PaddedInput.shape(pieces(index), runRows)
                : first.shape().withFirst(runRows);
        return new TensorSpec(first.name(), first.datatype(), shape);
    }

    @Override
    public Tensor input(int index) {
        requireRunning();
        Tensor known = inputs[index];
        if (known == null) {
            known = new Tensor(inputSpec(index), gather(index));
            inputs[index] = known;
        }
        return known;
    }

    private List<Tensor> pieces(int index) {
        return tickets.stream().map(ticket -> ticket.input(index)).toList();
    }

    /** Whether the backend gets more as an input than the requests bring. */
    private boolean isPadded(int index) {
        if (runRows != rows) {
            return true;
        }
        if (!signature.padsShapes()) {
            return false;
        }
        Shape shape = inputSpec(index).shape();
        return !tickets.stream()
                .allMatch(ticket -> ticket.input(index).spec().shape().equalsAfterFirst(shape));
    }

    private MemorySegment gather(int index) {
        if (isPadded(index)) {
            PaddedInput padded = new PaddedInput(pieces(index), inputSpec(index).shape());
            Buffer buffer = takeForRun(padded.byteSize());
            padded.write(buffer.segment());
            return buffer.segment();
        }
        long byteSize = 0;
        for (InferenceTicket ticket : tickets) {
            MemorySegment piece = ticket.input(index).bytes();
            pieces.add(piece);
            byteSize += piece.byteSize();
        }
        try {
            Optional<MemorySegment> joined = SideBySide.join(pieces);
            return joined.isPresent() ? joined.get() : copy(byteSize);
        } finally {
            pieces.clear();
        }
    }

    private MemorySegment copy(long byteSize) {
        Buffer buffer = takeForRun(byteSize);
        long at = 0;
        for (MemorySegment piece : pieces) {
            TensorCopy.copy(piece, buffer.segment().asSlice(at, piece.byteSize()));
            at += piece.byteSize();
        }
        return buffer.segment();
    }

    @Override
    public DeviceMemory input(int index, DeviceTransfers transfers) {
        requireRunning();
        return index < inputs.length && !isPadded(index)
                ? DeviceBatch.gather(pieces(index), transfers)
                : transfers.bring(input(index));
    }

    @Override
    public DeviceMemory output(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        requireRunning();
        if (index < rules.size() && outputs.get(index).isForDevice(transfers)) {
            OutputRule rule = rules.get(index);
            check(rule, datatype, shape);
            rule.requireSize(shape, byteSize, signature);
            return outputs.get(index).deviceMemory(shape, byteSize, transfers);
        }
        return super.output(index, datatype, shape, byteSize, transfers);
    }

    /** Memory of the pool until the run is over. */
    final Buffer takeForRun(long byteSize) {
        Buffer buffer = take(byteSize);
        gathered.add(buffer);
        return buffer;
    }

    @Override
    public int outputCount() {
        return rules.size();
    }

    @Override
    public String outputName(int index) {
        return rules.get(index).name();
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        requireRunning();
        OutputRule rule = rules.get(index);
        check(rule, datatype, shape);
        rule.requireSize(shape, byteSize, signature);
        try {
            return outputs.get(index).memory(shape, byteSize);
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        requireRunning();
        if (responses != null || isPadded(input)) {
            // The next response may show the same input, and only one could own its memory; or it is no request's
            // memory.
            Tensor source = input(input);
            MemorySegment bytes = source.bytes();
            TensorCopy.copy(bytes, output(output, source.spec().datatype(), shape, bytes.byteSize()));
            return;
        }
        check(rules.get(output), inputSpec(input).datatype(), shape);
        outputs.get(output).fromInput(input, shape);
    }

    /**
     * Refuses what a backend gives as an output of the whole batch.
     *
     * @throws GatunException INTERNAL when it is not as the configuration says
     */
    void check(OutputRule rule, Datatype datatype, Shape shape) {
        rule.answered(datatype, shape, signature);
        if (shape.rank() == 0 || shape.dim(0) != runRows) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected shape " + shape + " for inference output '" + rule.name() + "' of model '"
                            + signature.modelName() + "': expected " + runRows
                            + " in front, the batch size of all requests that run together");
        }
        rule.requireShape(shape, runRows, signature);
    }
}
