// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.cache;

import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.execution.ComposedResponse;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;

/** Identifies a request by all that its response depends on; the order of names does not matter. */
final class RequestDigest {
    private RequestDigest() {}

    /** Adds a request to a hash; nobody may change {@code inputs} meanwhile. */
    static void add(
            RequestHash hash, List<Tensor> inputs, Map<String, ParameterValue> parameters, ComposedResponse wanted) {
        hash.add(inputs.size());
        inputs.stream()
                .sorted(Comparator.comparing(input -> input.spec().name()))
                .forEach(input -> add(hash, input));
        hash.add(parameters.size());
        new TreeMap<>(parameters).forEach((name, value) -> {
            hash.add(name);
            add(hash, value);
        });
        hash.add(wanted.outputCount());
        IntStream.range(0, wanted.outputCount())
                .mapToObj(wanted::outputName)
                .sorted()
                .forEach(hash::add);
    }

    private static void add(RequestHash hash, Tensor input) {
        TensorSpec spec = input.spec();
        hash.add(spec.name());
        hash.add(spec.datatype().wireName());
        Shape shape = spec.shape();
        hash.add(shape.rank());
        for (int i = 0; i < shape.rank(); i++) {
            hash.add(shape.dim(i));
        }
        hash.add(input.bytes());
    }

    private static void add(RequestHash hash, ParameterValue value) {
        switch (value) {
            case ParameterValue.Bool truth -> add(hash, 1, truth.value() ? 1 : 0);
            case ParameterValue.Int64 number -> add(hash, 2, number.value());
            case ParameterValue.Uint64 number -> add(hash, 3, number.value());
            case ParameterValue.Fp64 number -> add(hash, 4, Double.doubleToRawLongBits(number.value()));
            case ParameterValue.Text text -> {
                hash.add(5);
                hash.add(text.value());
            }
        }
    }

    private static void add(RequestHash hash, long kind, long value) {
        hash.add(kind);
        hash.add(value);
    }

    /** A hash that numbers, texts and bytes are added to, one after the other. Used by one thread. */
    interface RequestHash {
        void add(long word);

        void add(String text);

        void add(MemorySegment bytes);
    }
}
