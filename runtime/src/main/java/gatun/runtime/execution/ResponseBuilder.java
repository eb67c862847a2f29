// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The outputs made and not handed on yet, in the order of the request, their buffers, which this owns, and parameters.
 * Used by the instance's thread, and by the request's own after the run.
 */
final class ResponseBuilder {
    private final @Nullable OutputTensor[] outputs;
    private final @Nullable Hold[] buffers;

    /** Where outputs lie that are yet to be copied to client memory; null for others, and while there are none. */
    private @Nullable MemorySegment @Nullable [] staged;

    private Map<String, ParameterValue> parameters = Map.of();
    private boolean showsInputs;

    /** What the request was answered the last time, if it is one that is asked again and again; null for none. */
    private @Nullable InferenceResponse last;

    /** By output; null while none is left out. */
    private boolean @Nullable [] leftOut;

    ResponseBuilder(int count) {
        outputs = new OutputTensor[count];
        buffers = new Hold[count];
    }

    /** Output {@code index}; null when it has not been made yet. */
    @Nullable
    OutputTensor get(int index) {
        return outputs[index];
    }

    /** Sets an output and takes over its buffer, null for none. Frees what was there before. */
    void set(int index, OutputTensor output, @Nullable Hold buffer) {
        Hold previous = buffers[index];
        outputs[index] = output;
        buffers[index] = buffer;
        if (staged != null) {
            staged[index] = null;
        }
        if (previous != null) {
            previous.close();
        }
    }

    /** Sets an output in {@code bytes} until {@link #deliver}; takes over its hold. Frees what was there before. */
    void stage(int index, OutputTensor output, MemorySegment bytes, @Nullable Hold hold) {
        set(index, output, hold);
        if (staged == null) {
            staged = new MemorySegment[outputs.length];
        }
        staged[index] = bytes;
    }

    /** Copies what was staged to the client's memory, now that nothing reads it any more, and frees it. */
    void deliver() {
        // The last first, so that the pool lends the same memory for the same output again.
        @Nullable MemorySegment @Nullable [] waiting = staged;
        if (waiting == null) {
            return;
        }
        for (int i = waiting.length - 1; i >= 0; i--) {
            MemorySegment bytes = waiting[i];
            OutputTensor output = outputs[i];
            if (bytes == null || output == null) {
                continue;
            }
            TensorCopy.copy(bytes, output.tensor().bytes());
            waiting[i] = null;
            Hold hold = buffers[i];
            buffers[i] = null;
            if (hold != null) {
                hold.close();
            }
        }
    }

    /** Sets an output as in the last response, if it had this datatype, shape, size and place; else null. */
    @Nullable
    OutputTensor repeat(int index, Datatype datatype, Shape shape, long byteSize) {
        if (last == null) {
            return null;
        }
        OutputTensor output = last.outputs().get(index);
        TensorSpec spec = output.tensor().spec();
        if (spec.datatype() != datatype
                || !spec.shape().equals(shape)
                || output.tensor().byteSize() != byteSize) {
            return null;
        }
        set(index, output, null);
        return output;
    }

    /** Notes that output {@code index} is not to be made for the next response. */
    void leaveOut(int index) {
        if (leftOut == null) {
            leftOut = new boolean[outputs.length];
        }
        leftOut[index] = true;
    }

    boolean leavesOut(int index) {
        return leftOut != null && leftOut[index];
    }

    /** Whether neither an output nor a parameter was set. */
    boolean isEmpty() {
        if (!parameters.isEmpty()) {
            return false;
        }
        for (OutputTensor output : outputs) {
            if (output != null) {
                return false;
            }
        }
        return true;
    }

    /** Notes that an output is an input's own memory, which then belongs to the response. */
    void showInputs() {
        showsInputs = true;
    }

    void parameter(String name, ParameterValue value) {
        if (parameters.isEmpty()) {
            parameters = new LinkedHashMap<>();
        }
        parameters.put(name, value);
    }

    /** Owns buffers and regions, and input buffers shown; regions stay the request's if only a {@code part}. */
    InferenceResponse only(
            InferenceRequest request, RequestTensors tensors, String modelName, String versionText, boolean part) {
        if (last != null && isRepeated(last)) {
            Arrays.fill(outputs, null);
            last.reopen();
            return last;
        }
        last = null;
        List<OutputTensor> allocatedOutputs = new ArrayList<>(outputs.length);
        List<Hold> holds = new ArrayList<>(outputs.length);
        for (int i = 0; i < outputs.length && !part; i++) {
            RequestedOutput requested = tensors.requestedOutput(i);
            if (outputs[i] == null && !leavesOut(i)) {
                throw new AssertionError("output '" + requested.name() + "' was not answered");
            }
            RegionLease window = requested.destination().orElse(null);
            if (window != null && !request.mayRepeat() && request.release(window)) {
                holds.add(window);
            }
        }
        moveTo(allocatedOutputs, holds);
        if (showsInputs) {
            for (Hold hold : List.copyOf(request.holds())) {
                request.release(hold);
                holds.add(hold);
            }
        }
        InferenceResponse response =
                new InferenceResponse(modelName, versionText, request.id(), allocatedOutputs, parameters, holds);
        if (request.mayRepeat() && holds.isEmpty() && parameters.isEmpty() && areInSharedMemory(allocatedOutputs)) {
            last = response;
        }
        return response;
    }

    private boolean areInSharedMemory(List<OutputTensor> allocatedOutputs) {
        for (int i = 0; i < allocatedOutputs.size(); i++) {
            if (!allocatedOutputs.get(i).inSharedMemory()) {
                return false;
            }
        }
        return allocatedOutputs.size() == outputs.length;
    }

    /** Whether what was made is what {@code response} says. */
    @SuppressWarnings("ReferenceEquality") // the very ones, whose memory is written anew
    private boolean isRepeated(InferenceResponse response) {
        if (!parameters.isEmpty() || showsInputs) {
            return false;
        }
        for (int i = 0; i < outputs.length; i++) {
            if (outputs[i] != response.outputs().get(i)) {
                return false;
            }
        }
        return true;
    }

    /** The next of several responses, of what was made since the last. Client windows stay the request's. */
    InferenceResponse next(InferenceRequest request) {
        List<OutputTensor> allocatedOutputs = new ArrayList<>(outputs.length);
        List<Hold> holds = new ArrayList<>(outputs.length);
        moveTo(allocatedOutputs, holds);
        Map<String, ParameterValue> own = parameters;
        parameters = Map.of();
        return new InferenceResponse(
                request.model().name(), request.model().versionText(), request.id(), allocatedOutputs, own, holds);
    }

    /** Hands on the outputs and the buffers, which the caller owns from now on, and forgets them. */
    private void moveTo(List<OutputTensor> allocatedOutputs, List<Hold> holds) {
        for (int i = 0; i < outputs.length; i++) {
            OutputTensor output = outputs[i];
            Hold buffer = buffers[i];
            if (output != null) {
                allocatedOutputs.add(output);
            }
            if (buffer != null) {
                holds.add(buffer);
            }
            outputs[i] = null;
            buffers[i] = null;
        }
        leftOut = null;
    }

    void drop() {
        leftOut = null;
        showsInputs = false;
        parameters = Map.of();
        staged = null;
        for (int i = 0; i < buffers.length; i++) {
            Hold buffer = buffers[i];
            outputs[i] = null;
            buffers[i] = null;
            if (buffer != null) {
                buffer.close();
            }
        }
    }
}
