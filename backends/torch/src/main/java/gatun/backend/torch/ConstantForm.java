// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * What a weight of a model must be, by the C++ that its library was compiled of. Immutable.
 *
 * @param name what the module calls it
 * @param shape its shape
 * @param strides how far its elements are from each other, in elements
 */
record ConstantForm(String name, Shape shape, List<Long> strides) {
    private static final Pattern FACT = Pattern.compile(
            "constants_info_\\[(\\d{1,9})\\]\\.(shape|stride|original_fqn) = (?:\\{([^{}]*)\\}|\"([^\"]*)\");");

    /** The last argument of the model's base says whether the library has the weights. */
    private static final Pattern WITHOUT_WEIGHTS = Pattern.compile(
            "AOTInductorModelBase\\(\\s*\\d+,\\s*\\d+,\\s*[1-9]\\d*,[^;{}()]*std::move\\(cubin_dir\\),\\s*false\\)");

    /** All that {@code source} tells of, in their order. */
    static List<ConstantForm> read(String source) {
        Map<Integer, Map<String, String>> facts = new TreeMap<>();
        FACT.matcher(source).results().forEach(found -> facts.computeIfAbsent(
                        Integer.valueOf(found.group(1)), key -> new TreeMap<>())
                .put(found.group(2), found.group(3) != null ? found.group(3) : found.group(4)));
        List<ConstantForm> forms = new ArrayList<>();
        facts.values()
                .forEach(fact -> forms.add(new ConstantForm(
                        fact.getOrDefault("original_fqn", ""),
                        Shape.of(numbers(fact.getOrDefault("shape", ""))),
                        Arrays.stream(numbers(fact.getOrDefault("stride", "")))
                                .boxed()
                                .toList())));
        return forms;
    }

    /** Whether {@code source} has weights that it says are not in the library. */
    static boolean areMissing(String source) {
        return WITHOUT_WEIGHTS.matcher(source).find();
    }

    private static long[] numbers(String list) {
        return Arrays.stream(list.split(",", -1))
                .map(String::strip)
                .filter(number -> number.matches("\\d{1,18}L?"))
                .mapToLong(number -> Long.parseLong(number.replace("L", "")))
                .toArray();
    }

    /** @throws GatunException INVALID_ARGUMENT when {@code entry} is another weight */
    void check(SafeTensors.Entry entry, String what) {
        long stride = 1;
        for (int i = strides.size() - 1; i >= 0; i--) {
            if (shape.dim(i) != 1 && strides.get(i) != stride) {
                throw GatunException.invalidArgument(
                        what + " keeps its weight '" + name + "' in another order in memory"
                                + " than a file of safetensors; make the package with its weights in it");
            }
            stride *= Math.max(1, shape.dim(i));
        }
        if (!shape.equals(entry.shape())) {
            throw GatunException.invalidArgument(what + " has a weight '" + name + "' of shape " + shape
                    + ", the file beside it one of shape " + entry.shape() + ": they are of different models");
        }
    }
}
