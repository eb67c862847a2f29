// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.access.ApiGroup;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * A rule for some groups of requests.
 *
 * @param groups the groups
 * @param value the text that follows their names
 */
record ApiGroupsFlag(Set<ApiGroup> groups, String value) {
    /** Reads {@code GROUP,GROUP,...:VALUE}; the name {@code all} stands for every group. */
    static final class Reader implements ITypeConverter<ApiGroupsFlag> {
        @Override
        public ApiGroupsFlag convert(String text) {
            int colon = text.indexOf(':');
            if (colon < 1 || colon == text.length() - 1) {
                throw new TypeConversionException("'" + text
                        + "' is not a list of groups, a colon and what they need: health,metadata:KEY=VALUE");
            }
            Set<ApiGroup> groups = EnumSet.noneOf(ApiGroup.class);
            for (String name : text.substring(0, colon).split(",", -1)) {
                if (name.equals("all")) {
                    groups.addAll(EnumSet.allOf(ApiGroup.class));
                } else {
                    groups.add(ApiGroup.of(name).orElseThrow(() -> unknown(name)));
                }
            }
            return new ApiGroupsFlag(groups, text.substring(colon + 1));
        }

        private static TypeConversionException unknown(String name) {
            return new TypeConversionException("'" + name + "' is not a group of requests: "
                    + Stream.of(ApiGroup.values()).map(ApiGroup::wireName).collect(Collectors.joining(", "))
                    + ", or all");
        }
    }
}
