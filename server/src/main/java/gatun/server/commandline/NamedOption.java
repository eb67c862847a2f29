// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.protocol.flags.FlagType;
import gatun.spi.Backend;
import gatun.spi.discovery.InstalledBackends;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** An option of a backend or a cache, its {@code owner}, as Triton writes it: {@code onnxruntime,library=PATH}. */
record NamedOption(String owner, String name, String value) {
    static final FlagType<NamedOption> OF_BACKEND = FlagType.of("BACKEND,K=V", new BackendReader()::convert);

    static final FlagType<NamedOption> OF_CACHE = FlagType.of(
            "CACHE,K=V",
            value -> read(
                    value, "CACHE,OPTION=VALUE, such as local,size=67108864, or redis,host=HOST and redis,port=PORT"));

    /** The values by owner and name; of two for one name the later. */
    static Map<String, Map<String, String>> byOwner(List<NamedOption> options) {
        return options.stream()
                .collect(Collectors.groupingBy(
                        NamedOption::owner,
                        Collectors.toMap(NamedOption::name, NamedOption::value, (former, later) -> later)));
    }

    static List<NamedOption> ofEnginesWith(String name, String value) {
        return enginesWith(option -> option.name().equals(name)).stream()
                .map(engine -> new NamedOption(engine, name, value))
                .toList();
    }

    static List<String> enginesWith(Predicate<Backend.Option> wanted) {
        return InstalledBackends.find(Optional.empty()).services().stream()
                .filter(engine -> engine.options().stream().anyMatch(wanted))
                .map(Backend::name)
                .sorted()
                .toList();
    }

    private static NamedOption read(String value, String expected) {
        int comma = value.indexOf(',');
        int equals = value.indexOf('=', comma + 1);
        if (comma < 1 || equals < comma + 2) {
            throw new TypeConversionException("'" + value + "' is not " + expected);
        }
        return new NamedOption(
                value.substring(0, comma), value.substring(comma + 1, equals), value.substring(equals + 1));
    }

    /** Reads options of backends. */
    static final class BackendReader implements ITypeConverter<NamedOption> {
        @Override
        public NamedOption convert(String value) {
            return read(value, "BACKEND,OPTION=VALUE, such as onnxruntime,library=/opt/lib/libonnxruntime.so");
        }
    }
}
