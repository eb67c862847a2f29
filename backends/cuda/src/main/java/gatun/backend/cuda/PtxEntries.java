// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The functions of a PTX file that can be launched, as far as a look at its text tells. Immutable. */
final class PtxEntries {
    private static final Pattern COMMENT = Pattern.compile("//[^\\n]*|/\\*.*?\\*/", Pattern.DOTALL);

    /** {@code .entry name(...)}, of which the parentheses with the parameters may be missing. */
    private static final Pattern ENTRY = Pattern.compile("\\.entry\\s+([\\w$%]+)\\s*(?:\\(([^)]*)\\))?");

    /** {@code .param .u64 name}, or {@code .param .align 8 .b8 name[24]}, with more words between. */
    private static final Pattern PARAMETER =
            Pattern.compile("\\.param\\b[^,]*?\\.(?:[usfb])(8|16|32|64)\\b[^,\\[]*(?:\\[\\s*(\\d{1,6})\\s*])?");

    private final Map<String, List<Integer>> parameters = new LinkedHashMap<>();

    PtxEntries(String text) {
        Matcher entry = ENTRY.matcher(COMMENT.matcher(text).replaceAll(" "));
        while (entry.find()) {
            parameters.put(entry.group(1), entry.group(2) == null ? List.of() : byteSizes(entry.group(2)));
        }
    }

    private static List<Integer> byteSizes(String list) {
        List<Integer> sizes = new ArrayList<>();
        Matcher parameter = PARAMETER.matcher(list);
        while (parameter.find()) {
            int count = parameter.group(2) == null ? 1 : Integer.parseInt(parameter.group(2));
            sizes.add(Integer.parseInt(parameter.group(1)) / Byte.SIZE * count);
        }
        return List.copyOf(sizes);
    }

    /** Their names, in the file's order. */
    List<String> names() {
        return List.copyOf(parameters.keySet());
    }

    List<Integer> parameterByteSizes(String function) {
        return parameters.getOrDefault(function, List.of());
    }
}
