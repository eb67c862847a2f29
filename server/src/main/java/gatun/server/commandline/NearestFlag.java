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

    /** The nearest flag to {@code typed}, values and {@code -} or {@code _} aside; empty when none is near. */
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
