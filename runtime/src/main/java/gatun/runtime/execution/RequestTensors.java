// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.RequestedOutput;
import java.util.Arrays;
import java.util.List;

/** The inputs of a checked request, and its requested outputs. Immutable, but for the tensors' elements. */
final class RequestTensors {
    private final Tensor[] inputs;
    private final boolean[] copied;
    private final RequestedOutput[] requestedOutputs;
    private final OutputRule[] rules;

    /**
     * Keeps the arrays: inputs as the backend gets them, in the configuration's order, whether the model must not read
     * each where a client can write it, and outputs in the response's order.
     */
    RequestTensors(Tensor[] inputs, boolean[] copied, RequestedOutput[] requestedOutputs, OutputRule[] rules) {
        this.inputs = inputs;
        this.copied = copied;
        this.requestedOutputs = requestedOutputs;
        this.rules = rules;
    }

    /** The same with more inputs after those that are there. */
    RequestTensors with(List<Tensor> more) {
        Tensor[] all = Arrays.copyOf(inputs, inputs.length + more.size());
        for (int i = 0; i < more.size(); i++) {
            all[inputs.length + i] = more.get(i);
        }
        return new RequestTensors(all, Arrays.copyOf(copied, all.length), requestedOutputs, rules);
    }

    /** Some rows of these, whose outputs do not go to the client's windows. */
    RequestTensors piece(Tensor[] rows) {
        RequestedOutput[] pooled = new RequestedOutput[requestedOutputs.length];
        for (int i = 0; i < requestedOutputs.length; i++) {
            pooled[i] = requestedOutputs[i].withoutDestination();
        }
        return new RequestTensors(rows, copied, pooled, rules);
    }

    int inputCount() {
        return inputs.length;
    }

    Tensor input(int index) {
        return inputs[index];
    }

    /** Whether the model must not read input {@code index} where a client can write it. */
    boolean isCopied(int index) {
        return copied[index];
    }

    /** Whether input {@code index} lies in system memory where the model must not read it. */
    boolean mustCopy(int index) {
        return copied[index] && inputs[index].isShared();
    }

    /** Whether output {@code index} is staged, and copied to a client's system memory after the run. */
    boolean mustStage(int index) {
        return rules[index].isCopied()
                && requestedOutputs[index].destination().isPresent()
                && requestedOutputs[index].destination().get().isShared();
    }

    /** The inputs, in the configuration's order and as the backend gets them. */
    List<Tensor> inputs() {
        return List.of(inputs);
    }

    /** Where the input of this name stands; negative when the request does not bring it. */
    int inputIndex(String name) {
        for (int i = 0; i < inputs.length; i++) {
            if (inputs[i].spec().name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    int outputCount() {
        return requestedOutputs.length;
    }

    RequestedOutput requestedOutput(int index) {
        return requestedOutputs[index];
    }

    OutputRule rule(int index) {
        return rules[index];
    }

    /** Where {@code output} stands among the requested ones; negative when it is not requested. */
    @SuppressWarnings("ReferenceEquality") // a model has one rule for each output
    int indexOf(OutputRule output) {
        for (int i = 0; i < rules.length; i++) {
            if (rules[i] == output) {
                return i;
            }
        }
        return -1;
    }

    /** Whether the inputs fit behind {@code first}'s: equal but for rows, and ragged or padded dimensions. */
    boolean join(RequestTensors first, ModelSignature signature) {
        if (inputs.length != first.inputs.length) {
            return false;
        }
        BatchTensors batchTensors = signature.batchTensors();
        for (int i = 0; i < inputs.length; i++) {
            TensorSpec own = inputs[i].spec();
            TensorSpec other = first.inputs[i].spec();
            if (!own.name().equals(other.name())) {
                return false;
            }
            boolean fits = own.shape().equalsAfterFirst(other.shape())
                    || (batchTensors != null && batchTensors.isRagged(own.name()))
                    || (signature.padsShapes()
                            && own.shape().rank() == other.shape().rank());
            if (!fits) {
                return false;
            }
        }
        return true;
    }

    /** The leases on clients' regions among the holds of a request. */
    static final class RegionLeases {
        private RegionLeases() {}

        /** Ends the use of every region: makes results visible to the client and fails when one was taken away. */
        static void settle(List<Hold> holds) {
            for (int i = 0; i < holds.size(); i++) {
                if (holds.get(i) instanceof RegionLease lease) {
                    lease.settle();
                }
            }
        }

        /** Whether there are none, but other holds: no client can take the memory away or change it. */
        static boolean isNoneIn(List<Hold> holds) {
            for (int i = 0; i < holds.size(); i++) {
                if (holds.get(i) instanceof RegionLease) {
                    return false;
                }
            }
            return !holds.isEmpty();
        }
    }
}
