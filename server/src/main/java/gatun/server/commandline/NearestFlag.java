// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.runtime.configuration.NearestName;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/** Finds the flag that somebody meant. */
final class NearestFlag {
    private NearestFlag() {}

    /**
     * The flag that differs from {@code typed} in the fewest letters; empty when none is near enough to be meant. The
     * text behind an equals sign, and the choice between {@code -} and {@code _}, do not count.
     */
    static Optional<String> to(String typed, Collection<String> flags) {
        Map<String, String> plain =
                flags.stream().collect(Collectors.toMap(NearestFlag::plain, flag -> flag, (first, second) -> first));
        return NearestName.to(plain(typed), plain.keySet()).map(plain::get);
    }

    private static String plain(String flag) {
        int equals = flag.indexOf('=');
        return (equals < 0 ? flag : flag.substring(0, equals)).replace('_', '-');
    }
}
