// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads what a model's inputs must be from the C++ of its library, as PyTorch 2.13 writes it: nothing else in a package
 * says it, and the library does not check its arguments.
 */
final class SourceText {
    private static final Pattern NAME = Pattern.compile("inputs_info_\\[(\\d{1,5})\\]\\.name = \"(\\w+)\";");
    private static final Pattern DATATYPE =
            Pattern.compile("int32_t (\\w+)_expected_dtype = aoti_torch_dtype_(\\w+)\\(\\);");
    private static final Pattern FIXED_SIZE = Pattern.compile("if \\((\\d{1,18})L? != (\\w+)_size\\[(\\d{1,5})\\]\\)");
    private static final Pattern LEAST_SIZE = Pattern.compile("if \\((\\w+)_size\\[(\\d{1,5})\\] < (\\d{1,18})L?\\)");
    private static final Pattern MOST_SIZE = Pattern.compile("if \\((\\w+)_size\\[(\\d{1,5})\\] > (\\d{1,18})L?\\)");
    private static final Pattern FIXED_STRIDE =
            Pattern.compile("if \\((\\d{1,18})L? != (\\w+)_stride\\[(\\d{1,5})\\]\\)");
    private static final Pattern WHOLE_SHAPE =
            Pattern.compile("assert_size_stride\\((\\w+), \\{([^{}]*)\\}, \\{[^{}]*\\}, \"input\"\\)");

    /** The memory of an input where a kernel may write, and functions that write to their first argument. */
    private static final Pattern WRITES = Pattern.compile(
            "\\((?!const )[\\w:]+\\*\\)\\((\\w+)\\.data_ptr\\(\\)\\)|aoti_torch_\\w*_(?:out)?\\((\\w+),");

    /** PyTorch says 2 for each dimension that is variable, and runs those of 1 as well. */
    private static final long USUAL_LEAST = 2;

    private final String text;
    private final Map<String, Map<Integer, Long>> sizes;
    private final Map<String, Map<Integer, Long>> least;
    private final Map<String, Map<Integer, Long>> most;
    private final Map<String, Map<Integer, Long>> strides;
    private final Map<String, String> datatypes = new HashMap<>();
    private final Map<String, String> shapes = new HashMap<>();

    private SourceText(String text) {
        this.text = text;
        sizes = numbers(FIXED_SIZE, 2, 3, 1);
        least = numbers(LEAST_SIZE, 1, 2, 3);
        most = numbers(MOST_SIZE, 1, 2, 3);
        strides = numbers(FIXED_STRIDE, 2, 3, 1);
        all(DATATYPE).forEach(found -> datatypes.put(found.group(1), found.group(2)));
        all(WHOLE_SHAPE).forEach(found -> shapes.putIfAbsent(found.group(1), found.group(2)));
    }

    /** What the inputs must be, in order; empty where the text does not say it of each. */
    static Optional<List<InputForm>> read(String text) {
        return new SourceText(text).inputs();
    }

    private List<MatchResult> all(Pattern pattern) {
        return pattern.matcher(text).results().toList();
    }

    private Map<String, Map<Integer, Long>> numbers(Pattern pattern, int name, int index, int number) {
        Map<String, Map<Integer, Long>> numbers = new HashMap<>();
        all(pattern).forEach(found -> numbers.computeIfAbsent(found.group(name), key -> new TreeMap<>())
                .put(Integer.valueOf(found.group(index)), Long.valueOf(found.group(number))));
        return numbers;
    }

    private Optional<List<InputForm>> inputs() {
        Map<Integer, String> names = new TreeMap<>();
        all(NAME).forEach(found -> names.put(Integer.valueOf(found.group(1)), found.group(2)));
        List<String> written = all(WRITES).stream()
                .map(found -> found.group(1) != null ? found.group(1) : found.group(2))
                .toList();
        List<InputForm> forms = new ArrayList<>();
        for (Map.Entry<Integer, String> entry : names.entrySet()) {
            String name = entry.getValue();
            Optional<List<Extent>> extents = extents(name);
            String datatype = datatypes.get(name);
            if (entry.getKey() != forms.size() || datatype == null || extents.isEmpty()) {
                return Optional.empty();
            }
            forms.add(new InputForm(ElementTypes.named(datatype), extents.get(), written.contains(name)));
        }
        return forms.isEmpty() ? Optional.empty() : Optional.of(forms);
    }

    private static Map<Integer, Long> of(Map<String, Map<Integer, Long>> all, String name) {
        return all.getOrDefault(name, Map.of());
    }

    private Optional<List<Extent>> extents(String name) {
        String shape = shapes.get(name);
        List<String> parts = shape == null ? List.of() : parts(shape);
        int rank = shape != null ? parts.size() : rank(name);
        List<Extent> extents = new ArrayList<>();
        for (int i = 0; i < rank; i++) {
            Long fixed = of(sizes, name).get(i);
            long lower = of(least, name).getOrDefault(i, 1L);
            long from = lower <= USUAL_LEAST ? 1 : lower;
            long to = of(most, name).getOrDefault(i, Long.MAX_VALUE);
            Optional<Extent> extent = fixed != null
                    ? Optional.of(Extent.fixed(fixed))
                    : shape != null
                            ? Extent.read(parts.get(i), from, to)
                            // Read by no kernel, or by none that relies on another input's.
                            : Optional.of(Extent.symbol(name + "_size_" + i, from, to));
            if (extent.isEmpty()) {
                return Optional.empty();
            }
            extents.add(extent.get());
        }
        return isContiguous(name, extents) ? Optional.of(extents) : Optional.empty();
    }

    private static List<String> parts(String list) {
        return Arrays.stream(list.split(",", -1))
                .filter(part -> !part.isBlank())
                .map(String::strip)
                .toList();
    }

    /** The highest dimension that anything is said of: the stride of the last is always 1. */
    private int rank(String name) {
        return Stream.of(sizes, least, most, strides)
                .flatMap(facts -> of(facts, name).keySet().stream())
                .mapToInt(index -> index + 1)
                .max()
                .orElse(0);
    }

    /** Whether the elements lie as requests bring them, as far as strides are fixed. */
    private boolean isContiguous(String name, List<Extent> extents) {
        long stride = 1;
        for (int i = extents.size() - 1; i >= 0; i--) {
            Extent extent = extents.get(i);
            long own = of(strides, name).getOrDefault(i, stride);
            if (own != stride && !(extent.isFixed() && extent.least() == 1)) {
                return false;
            }
            if (!extent.isFixed()) {
                return true;
            }
            stride *= Math.max(1, extent.least());
        }
        return true;
    }
}
