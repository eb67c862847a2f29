// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Kind;
import gatun.protocol.flags.FlagType.FlagException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.TypeConversionException;

/**
 * Arguments that can be read without picocli: whole names of flags with correct values, and paths. To describe all flags
 * to picocli makes a start longer. Whatever else there is, wrong values included, is left to it.
 */
final class PlainArguments {
    private final Map<String, Flag<?>> byName = new HashMap<>();
    private final IdentityHashMap<Flag<?>, List<Object>> given = new IdentityHashMap<>();
    private final List<String> arguments;
    private @Nullable Flag<?> positional;

    private PlainArguments(List<FlagGroup> groups, List<String> arguments) {
        this.arguments = arguments;
        for (FlagGroup group : groups) {
            for (Flag<?> flag : group.flags()) {
                if (flag.kind() == Kind.ARGUMENTS) {
                    positional = flag;
                } else {
                    flag.names().forEach(name -> byName.put(name, flag));
                }
            }
        }
    }

    /** Has the flags of {@code groups} take their values from {@code arguments}; false, and no flag does, where they are not plain. */
    static boolean read(List<FlagGroup> groups, List<String> arguments) {
        PlainArguments plain = new PlainArguments(groups, arguments);
        try {
            if (!plain.take()) {
                return false;
            }
        } catch (FlagException | TypeConversionException e) {
            return false;
        }
        plain.given.forEach((flag, values) -> {
            boolean isList = flag.kind() == Kind.SEVERAL || flag.kind() == Kind.ARGUMENTS;
            Object value = isList ? List.copyOf(values) : values.getLast();
            flag.readFrom(() -> value);
        });
        return true;
    }

    private boolean take() {
        for (int i = 0; i < arguments.size(); i++) {
            String argument = arguments.get(i);
            int equals = argument.indexOf('=');
            Flag<?> flag = argument.startsWith("-")
                    ? byName.get(equals < 0 ? argument : argument.substring(0, equals))
                    : positional;
            String value = argument;
            if (flag == null || flag.name().equals(SettingSources.CONFIG_FLAG) || argument.startsWith("@")) {
                return false;
            }
            if (flag.kind() == Kind.PRESENT) {
                if (equals >= 0) {
                    return false;
                }
                value = String.valueOf(true);
            } else if (flag != positional && equals >= 0) {
                value = argument.substring(equals + 1);
            } else if (flag != positional) {
                boolean isFollowed =
                        i + 1 < arguments.size() && !arguments.get(i + 1).startsWith("-");
                if (isFollowed == flag.type().bare().isPresent()) {
                    return false;
                }
                value = isFollowed ? arguments.get(++i) : flag.type().bare().orElseThrow();
            }
            if (value.isEmpty()) {
                return false;
            }
            given.computeIfAbsent(flag, any -> new ArrayList<>())
                    .add(flag.type().read(value));
        }
        return true;
    }
}
