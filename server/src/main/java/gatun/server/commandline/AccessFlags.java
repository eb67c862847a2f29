// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.memory.tensor.GatunException;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.protocol.flags.FlagType.FlagException;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.access.TokenFile;
import gatun.server.settings.ClientSettings.AccessSettings;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Who may ask for what. Read once. */
final class AccessFlags extends FlagGroup {
    /** The prefix that Triton puts before the name of the header that gRPC clients have to send. */
    private static final String GRPC_PREFIX = "triton-grpc-protocol-";

    private static final FlagType<ApiGroupsFlag> GROUPS =
            FlagType.of("GROUP,...:K=V", new ApiGroupsFlag.Reader()::convert);

    private static final Pattern HOST = Pattern.compile("\\*|[A-Za-z0-9_]([A-Za-z0-9_.-]*)");

    private final Flag<List<String>> hosts = several(
            "--allow-host",
            FlagType.of("NAME", AccessFlags::host),
            "A name of this server, such as gpu1.example: requests from its own machine must be for an IP address,"
                    + " localhost, the machine's name or such a NAME, over HTTP and gRPC; * for any, behind a proxy on the"
                    + " same machine. May be given several times.");
    private final Flag<List<ApiGroupsFlag>> httpRestricted = several(
            "--http-restricted-api",
            GROUPS,
            "HTTP requests of these groups need the header K with the value V; may be given several times."
                    + " The groups: health, metadata, inference, shared-memory, model-config, model-repository,"
                    + " statistics, trace, logging, console.");
    private final Flag<List<ApiGroupsFlag>> grpcRestricted = several(
            "--grpc-restricted-protocol",
            GROUPS,
            "gRPC calls of these groups need the metadata triton-grpc-protocol-K with the value V; may be"
                    + " given several times.");
    private final Flag<List<ApiGroupsFlag>> httpTokens = several(
            "--http-token-file",
            GROUPS.labelled("GROUP,...:FILE"),
            "HTTP requests of these groups, or of all, need 'Authorization: Bearer' with a token of FILE, which"
                    + " holds one on each line and is read again when it changes; may be given several times.");
    private final Flag<List<ApiGroupsFlag>> grpcTokens =
            several("--grpc-token-file", GROUPS.labelled("GROUP,...:FILE"), "The same for gRPC calls.");
    private final Flag<Optional<Pattern>> httpForwarded = optional(
            "--http-header-forward-pattern",
            FlagType.REGEX,
            "HTTP headers in whose names something matches REGEX become parameters of requests.");
    private final Flag<Optional<Pattern>> grpcForwarded = optional(
            "--grpc-header-forward-pattern",
            FlagType.REGEX,
            "gRPC metadata in whose names something matches REGEX become parameters of requests.");

    /** The names of the server, besides the machine's own. */
    Set<String> hosts() {
        return Set.copyOf(hosts.value());
    }

    private static String host(String name) {
        if (!HOST.matcher(name).matches()) {
            throw new TypeConversionException(
                    "'" + name + "' is not the name of a host: expected a name without a port,"
                            + " such as gpu1.example, or * for any");
        }
        return name;
    }

    /** Reads the token files. Throws {@link FlagException}, which names the flag that is wrong. */
    AccessSettings settings() {
        return new AccessSettings(
                rules("", httpRestricted, httpTokens, httpForwarded),
                rules(GRPC_PREFIX, grpcRestricted, grpcTokens, grpcForwarded));
    }

    private static HeaderRules rules(
            String prefix,
            Flag<List<ApiGroupsFlag>> restricted,
            Flag<List<ApiGroupsFlag>> tokens,
            Flag<Optional<Pattern>> forwarded) {
        return new HeaderRules(
                new ApiAccess(
                        byGroup(restricted, rule -> header(prefix, rule)),
                        byGroup(tokens, file -> TokenFile.open(Path.of(file)))),
                forwarded.value().map(HeaderForwarding::of).orElseGet(HeaderForwarding::none));
    }

    private static <T> Map<ApiGroup, T> byGroup(Flag<List<ApiGroupsFlag>> flag, Function<String, T> reading) {
        Map<ApiGroup, T> byGroup = new EnumMap<>(ApiGroup.class);
        for (ApiGroupsFlag rule : flag.value()) {
            T value;
            try {
                value = reading.apply(rule.value());
            } catch (GatunException e) {
                throw new FlagException(flag.name() + ": " + e.getMessage());
            }
            for (ApiGroup group : rule.groups()) {
                if (byGroup.put(group, value) != null) {
                    throw new FlagException(flag.name() + " names the group " + group.wireName() + " twice.");
                }
            }
        }
        return byGroup;
    }

    private static ApiAccess.RequiredHeader header(String prefix, String pair) {
        int equals = pair.indexOf('=');
        if (equals < 1) {
            throw GatunException.invalidArgument(
                    "'" + pair + "' is not a header's name and value, such as admin-key=secret");
        }
        return new ApiAccess.RequiredHeader(prefix + pair.substring(0, equals), pair.substring(equals + 1));
    }

    /** A rule for some groups of requests. */
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
}
