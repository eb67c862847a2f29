// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonReader;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import java.lang.foreign.MemorySegment;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * Makes members of a generate request, and those of its {@code parameters}, inputs where the model has one of the name,
 * else parameters. An input may come once; of other members the first counts. For one request, by one thread.
 */
final class GenerateMembers implements JsonBody.Members {
    private static final String PARAMETERS = "parameters";
    private static final String ID = "id";

    private final BufferPool buffers;
    private final InferenceRequest request;
    private final RequestUsage usage;
    private final long maxInputByteSize;
    private final Set<String> seen = new HashSet<>();

    GenerateMembers(BufferPool buffers, InferenceRequest request, RequestUsage usage, long maxInputByteSize) {
        this.buffers = buffers;
        this.request = request;
        this.usage = usage;
        this.maxInputByteSize = maxInputByteSize;
    }

    @Override
    public void member(JsonReader json) {
        if (!json.nameIs(PARAMETERS)) {
            readMember(json);
            return;
        }
        if (input(PARAMETERS).isPresent()) {
            throw GatunException.invalidArgument(
                    "Keyword 'parameters' for nested schema also given as input tensor name");
        }
        if (json.peek() != JsonKind.OBJECT) {
            throw GatunException.invalidArgument(
                    "Expected JSON object for keyword: 'parameters':" + " attempt to access JSON non-object as object");
        }
        json.enterObject("");
        while (json.nextMember()) {
            usage.addParameter();
            readNested(json);
        }
    }

    private void readNested(JsonReader json) {
        try {
            readMember(json);
        } catch (GatunException e) {
            throw new GatunException(e.code(), "Converting keyword: 'parameters': " + e.getMessage(), e);
        }
    }

    private void readMember(JsonReader json) {
        String name = json.name();
        Optional<TensorSpec> input = input(name);
        if (!seen.add(name)) {
            if (input.isPresent()) {
                throw GatunException.invalidArgument(
                        request.logPrefix() + "input '" + name + "' already exists in request");
            }
            json.skipValue();
            return;
        }
        if (name.equals(ID)) {
            long from = json.position();
            request.id(json.readString("Unable to parse 'id'"));
            json.position(from);
        }
        if (input.isPresent()) {
            readInput(json, input.get());
        } else {
            RequestParameters.readCustom(json, name, request);
        }
    }

    private Optional<TensorSpec> input(String name) {
        return request.model().inputs().stream()
                .filter(input -> input.name().equals(name))
                .findFirst();
    }

    private void readInput(JsonReader json, TensorSpec input) {
        JsonElements.checkHasJsonForm(input);
        boolean single = json.peek() != JsonKind.ARRAY;
        long from = json.position();
        long count = json.countElements();
        TensorSpec spec = new TensorSpec(input.name(), input.datatype(), shape(input, count));
        MemorySegment bytes = MemorySegment.NULL;
        if (count > 0) {
            long after = json.position();
            json.position(from);
            JsonElements elements = new JsonElements(buffers, request, json, maxInputByteSize);
            bytes = single ? elements.readSingle(spec) : elements.readArray(spec, count);
            json.position(after);
        }
        request.addInput(new Tensor(spec, bytes));
    }

    /** An input's shape for {@code count} elements: the innermost variable dimension takes them, others are 1. */
    private static Shape shape(TensorSpec input, long count) {
        long[] dims = input.shape().toArray();
        int innermost = -1;
        long rest = count;
        boolean fits = true;
        for (int i = 0; i < dims.length; i++) {
            if (dims[i] == Shape.VARIABLE) {
                innermost = i;
                dims[i] = 1;
            } else if (dims[i] > 0 && rest % dims[i] == 0) {
                rest /= dims[i];
            } else {
                fits = false;
            }
        }
        if (innermost >= 0) {
            dims[innermost] = rest;
        } else {
            fits &= rest == 1;
        }
        if (!fits) {
            throw GatunException.invalidArgument("The schema can not convert input '" + input.name()
                    + "' to tensor with proper shape: its shape is " + input.shape() + ", got " + count + " elements");
        }
        return Shape.of(dims);
    }
}
