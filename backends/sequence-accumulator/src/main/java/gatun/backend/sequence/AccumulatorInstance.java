// SPDX-License-Identifier: Apache-2.0
package gatun.backend.sequence;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import gatun.spi.BackendInstance;
import gatun.spi.Execution;
import java.lang.foreign.MemorySegment;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Adds up the inputs of the sequences of one instance. */
final class AccumulatorInstance implements BackendInstance {
    static final String INPUT = "INPUT";
    static final String OUTPUT = "OUTPUT";

    private final AccumulatorModel model;
    private final Sums sums;

    AccumulatorInstance(AccumulatorModel model) {
        this.model = model;
        sums = new Sums(model.sequenceLimit());
    }

    @Override
    public void execute(Execution execution) {
        Tensor input = input(execution);
        int rows = model.batching() ? Math.toIntExact(input.spec().shape().dim(0)) : 1;
        if (input.spec().shape().elementCount() != rows) {
            throw GatunException.invalidArgument("input 'INPUT' has shape "
                    + input.spec().shape() + ", expected one element for each of " + rows + " requests");
        }
        execution.inferStarted();
        MemorySegment output = execution.output(
                0, Datatype.INT32, input.spec().shape(), input.bytes().byteSize());
        for (int row = 0; row < rows; row++) {
            int value = input.bytes().getAtIndex(ElementLayouts.INT32, row);
            boolean ready = isSet(model.controls().ready(), execution, row, true);
            output.setAtIndex(ElementLayouts.INT32, row, ready ? sum(execution, row, value) : 0);
        }
        execution.inferEnded();
    }

    private int sum(Execution execution, int row, int value) {
        Optional<Control> id = model.controls().correlationId();
        Object sequence = id.isPresent() ? id.get().id(execution, row) : (Integer) row;
        int sum = sums.add(sequence, isSet(model.controls().start(), execution, row, false), value);
        if (isSet(model.controls().end(), execution, row, false)) {
            sums.end(sequence);
        }
        return sum;
    }

    private static boolean isSet(Optional<Control> control, Execution execution, int row, boolean otherwise) {
        return control.isPresent() ? control.get().isSet(execution, row) : otherwise;
    }

    private static Tensor input(Execution execution) {
        for (int i = 0; i < execution.inputCount(); i++) {
            if (execution.inputSpec(i).name().equals(INPUT)) {
                return execution.input(i);
            }
        }
        throw GatunException.invalidArgument("the request has no input 'INPUT'");
    }

    /**
     * The sums of the sequences that an instance serves. A sequence that the scheduler gave up for being idle is not told
     * of: its sum goes when there are more than there can be sequences, of which it is the one not used for longest. Used
     * by the instance's thread only.
     */
    static final class Sums {
        private final Map<Object, Integer> bySequence;

        /** @param limit how many sequences there can be at a time */
        Sums(int limit) {
            bySequence = new LinkedHashMap<>(16, 0.75f, true) {
                @Override
                protected boolean removeEldestEntry(Map.Entry<Object, Integer> eldest) {
                    return size() > limit;
                }
            };
        }

        /** Sets the sum of a sequence that begins, or adds to it; returns it. A sum beyond INT32 wraps around. */
        int add(Object sequence, boolean starts, int value) {
            int sum = starts ? value : bySequence.getOrDefault(sequence, 0) + value;
            bySequence.put(sequence, sum);
            return sum;
        }

        /** Forgets a sequence that has ended. */
        void end(Object sequence) {
            bySequence.remove(sequence);
        }

        int count() {
            return bySequence.size();
        }
    }
}
