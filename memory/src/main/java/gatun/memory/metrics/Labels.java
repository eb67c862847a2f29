// SPDX-License-Identifier: Apache-2.0
package gatun.memory.metrics;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A line's labels by name, and their text. Ordered by names, then values. Unchecked. Immutable. */
public final class Labels implements Comparable<Labels> {
    /** No label. */
    public static final Labels NONE = new Labels(new String[0], new String[0]);

    private final String[] names;
    private final String[] values;
    private final byte[] text;

    private Labels(String[] names, String[] values) {
        this.names = names;
        this.values = values;
        StringBuilder pairs = new StringBuilder();
        for (int i = 0; i < names.length; i++) {
            pairs.append(i == 0 ? "" : ",").append(names[i]).append("=\"");
            pairs.append(escaped(values[i])).append('"');
        }
        text = pairs.toString().getBytes(StandardCharsets.UTF_8);
    }

    /** One label. */
    public static Labels of(String name, String value) {
        return new Labels(new String[] {name}, new String[] {value});
    }

    /** Labels of ascending names, with as many values. Owns both arrays; equal names had best share theirs. */
    public static Labels of(String[] names, String... values) {
        return new Labels(names, values);
    }

    /** Some labels: values by name. */
    public static Labels of(Map<String, String> labels) {
        Map<String, String> sorted = new TreeMap<>(labels);
        return new Labels(
                sorted.keySet().toArray(String[]::new), sorted.values().toArray(String[]::new));
    }

    /** These labels and another. */
    public Labels with(String name, String value) {
        int at = 0;
        while (at < names.length && names[at].compareTo(name) < 0) {
            at++;
        }
        return new Labels(inserted(names, at, name), inserted(values, at, value));
    }

    private static String[] inserted(String[] before, int at, String added) {
        String[] after = Arrays.copyOf(before, before.length + 1);
        System.arraycopy(before, at, after, at + 1, before.length - at);
        after[at] = added;
        return after;
    }

    /** The value of the label {@code name}; empty without such a label. */
    public Optional<String> value(String name) {
        int at = Arrays.binarySearch(names, name);
        return at < 0 ? Optional.empty() : Optional.of(values[at]);
    }

    /** What stands between the braces, in UTF-8: name and quoted value of each label, with commas between them. */
    public byte[] text() {
        return text;
    }

    /** A text as both formats write it between quotes. */
    public static String escaped(String value) {
        if (value.indexOf('\\') < 0 && value.indexOf('"') < 0 && value.indexOf('\n') < 0) {
            return value;
        }
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    @Override
    public int compareTo(Labels other) {
        int byName = Arrays.compare(names, other.names);
        return byName != 0 ? byName : Arrays.compare(values, other.values);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Labels labels && compareTo(labels) == 0;
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(names) + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return "{" + new String(text, StandardCharsets.UTF_8) + "}";
    }
}
