// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.CorrelationId;
import gatun.spi.Execution;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A run for several requests whose rows are in the same tensors. Keeps what becomes of it. */
final class SharedTensors implements Execution {
    /** A request, and what was said of it. */
    static final class Row implements ExecutionRequest {
        final Map<String, ParameterValue> responseParameters = new LinkedHashMap<>();
        final List<GatunException> failures = new ArrayList<>();
        final List<String> leftOut = new ArrayList<>();
        int timesSkipped;
        int timesAgain;
        private final int batchSize;

        private Row(int batchSize) {
            this.batchSize = batchSize;
        }

        @Override
        public String id() {
            return "";
        }

        @Override
        public Optional<CorrelationId> correlationId() {
            return Optional.empty();
        }

        @Override
        public boolean startsSequence() {
            return false;
        }

        @Override
        public boolean endsSequence() {
            return false;
        }

        @Override
        public int batchSize() {
            return batchSize;
        }

        @Override
        public Map<String, ParameterValue> parameters() {
            return Map.of();
        }

        @Override
        public void leaveOut(String output) {
            leftOut.add(output);
        }

        @Override
        public void responseParameter(String name, ParameterValue value) {
            responseParameters.put(name, value);
        }

        @Override
        public void runAgain() {
            timesAgain++;
        }

        @Override
        public void skipResponse() {
            timesSkipped++;
        }

        @Override
        public boolean cancelled() {
            return false;
        }

        @Override
        public long timeoutMicros() {
            return 0;
        }

        @Override
        public long priority() {
            return 0;
        }

        @Override
        public Optional<String> traceContext() {
            return Optional.empty();
        }

        @Override
        public void traceActivity(String name) {
            throw new AssertionError("no model in Python tells '" + name + "'");
        }

        @Override
        public void fail(GatunException reason) {
            failures.add(reason);
        }
    }

    private final Arena arena = Arena.ofAuto();
    private final List<Row> rows = new ArrayList<>();
    private final List<Tensor> inputs = new ArrayList<>();
    private final List<String> outputNames;

    /** What was made since the last response was sent. */
    final Map<String, Tensor> outputs = new LinkedHashMap<>();

    /** The outputs of the responses that were sent. */
    final List<Map<String, Tensor>> sent = new ArrayList<>();

    /** @param batchSizes the rows of each request */
    SharedTensors(List<String> outputNames, int... batchSizes) {
        this.outputNames = outputNames;
        for (int batchSize : batchSizes) {
            rows.add(new Row(batchSize));
        }
    }

    Row row(int request) {
        return rows.get(request);
    }

    /** Adds an input of UINT8. */
    SharedTensors bytes(String name, Shape shape, int... values) {
        MemorySegment bytes = arena.allocate(values.length);
        for (int i = 0; i < values.length; i++) {
            bytes.set(ValueLayout.JAVA_BYTE, i, (byte) values[i]);
        }
        inputs.add(new Tensor(new TensorSpec(name, Datatype.UINT8, shape), bytes));
        return this;
    }

    /** Adds an input of BYTES. */
    SharedTensors texts(String name, Shape shape, String... values) {
        MemorySegment bytes = arena.allocate(BytesCodec.encodedTextByteSize(List.of(values)));
        BytesCodec.encodeText(List.of(values), bytes);
        inputs.add(new Tensor(new TensorSpec(name, Datatype.BYTES, shape), bytes));
        return this;
    }

    @Override
    public List<ExecutionRequest> requests() {
        return List.copyOf(rows);
    }

    @Override
    public int inputCount() {
        return inputs.size();
    }

    @Override
    public Tensor input(int index) {
        return inputs.get(index);
    }

    @Override
    public int outputCount() {
        return outputNames.size();
    }

    @Override
    public String outputName(int index) {
        return outputNames.get(index);
    }

    @Override
    public MemorySegment output(int index, Datatype datatype, Shape shape, long byteSize) {
        MemorySegment bytes = arena.allocate(Math.max(1, byteSize)).asSlice(0, byteSize);
        bytes.fill((byte) 0x55); // as undefined as that of others
        outputs.put(outputName(index), new Tensor(new TensorSpec(outputName(index), datatype, shape), bytes));
        return bytes;
    }

    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        throw new AssertionError("no output is an input");
    }

    @Override
    public void send() {
        sent.add(Map.copyOf(outputs));
        outputs.clear();
    }

    @Override
    public void inferStarted() {}

    @Override
    public void inferEnded() {}
}
