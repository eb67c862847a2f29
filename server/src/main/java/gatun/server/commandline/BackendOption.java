// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * One {@code --backend-config}.
 *
 * @param backend the backend that it is for
 * @param name the name of the option
 * @param value the value of the option
 */
record BackendOption(String backend, String name, String value) {
    /** The values by backend and name; of two for one name the later. */
    static Map<String, Map<String, String>> byBackend(List<BackendOption> options) {
        return options.stream()
                .collect(Collectors.groupingBy(
                        BackendOption::backend,
                        Collectors.toMap(BackendOption::name, BackendOption::value, (former, later) -> later)));
    }

    /** Reads {@code onnxruntime,library=PATH}. */
    static final class Reader implements ITypeConverter<BackendOption> {
        @Override
        public BackendOption convert(String value) {
            int comma = value.indexOf(',');
            int equals = value.indexOf('=', comma + 1);
            if (comma < 1 || equals < comma + 2) {
                throw new TypeConversionException("'" + value + "' is not BACKEND,OPTION=VALUE, such as"
                        + " onnxruntime,library=/opt/lib/libonnxruntime.so");
            }
            return new BackendOption(
                    value.substring(0, comma), value.substring(comma + 1, equals), value.substring(equals + 1));
        }
    }
}
