// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.memory.tensor.GatunException;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.access.HeaderForwarding;
import gatun.runtime.access.HeaderRules;
import gatun.runtime.access.TokenFile;
import gatun.server.settings.AccessSettings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The flags that restrict access. Filled by picocli, read once. */
final class AccessFlags {
    /** Triton's prefix of the header name that gRPC clients have to send. */
    private static final String GRPC_PREFIX = "triton-grpc-protocol-";

    @Option(
            names = "--http-restricted-api",
            paramLabel = "GROUP,...:K=V",
            converter = ApiGroupsFlag.Reader.class,
            description =
                    "HTTP requests of these groups need the header K with the value V; may be given several times."
                            + " The groups: health, metadata, inference, shared-memory, model-config, model-repository,"
                            + " statistics, trace, logging.")
    List<ApiGroupsFlag> httpRestricted = new ArrayList<>();

    @Option(
            names = "--grpc-restricted-protocol",
            paramLabel = "GROUP,...:K=V",
            converter = ApiGroupsFlag.Reader.class,
            description = "gRPC calls of these groups need the metadata triton-grpc-protocol-K with the value V; may be"
                    + " given several times.")
    List<ApiGroupsFlag> grpcRestricted = new ArrayList<>();

    @Option(
            names = "--http-token-file",
            paramLabel = "GROUP,...:FILE",
            converter = ApiGroupsFlag.Reader.class,
            description =
                    "HTTP requests of these groups, or of all, need 'Authorization: Bearer' with a token of FILE, which"
                            + " holds one on each line and is read again when it changes; may be given several times.")
    List<ApiGroupsFlag> httpTokens = new ArrayList<>();

    @Option(
            names = "--grpc-token-file",
            paramLabel = "GROUP,...:FILE",
            converter = ApiGroupsFlag.Reader.class,
            description = "The same for gRPC calls.")
    List<ApiGroupsFlag> grpcTokens = new ArrayList<>();

    @Option(
            names = "--http-header-forward-pattern",
            paramLabel = "REGEX",
            converter = FlagValues.Regex.class,
            description = "HTTP headers in whose names something matches REGEX become parameters of requests.")
    Optional<Pattern> httpForwarded = Optional.empty();

    @Option(
            names = "--grpc-header-forward-pattern",
            paramLabel = "REGEX",
            converter = FlagValues.Regex.class,
            description = "gRPC metadata in whose names something matches REGEX become parameters of requests.")
    Optional<Pattern> grpcForwarded = Optional.empty();

    /**
     * The settings that the flags give; reads the token files.
     *
     * @throws ParameterException naming the flag that contradicts itself, or whose file protects nothing
     */
    AccessSettings settings(CommandSpec command) {
        ApiAccess http = new ApiAccess(
                byGroup(command, "--http-restricted-api", httpRestricted, rule -> header("", rule)),
                byGroup(command, "--http-token-file", httpTokens, AccessFlags::tokens));
        ApiAccess grpc = new ApiAccess(
                byGroup(command, "--grpc-restricted-protocol", grpcRestricted, rule -> header(GRPC_PREFIX, rule)),
                byGroup(command, "--grpc-token-file", grpcTokens, AccessFlags::tokens));
        return new AccessSettings(
                new HeaderRules(http, forwarding(httpForwarded)), new HeaderRules(grpc, forwarding(grpcForwarded)));
    }

    private static HeaderForwarding forwarding(Optional<Pattern> names) {
        return names.map(HeaderForwarding::of).orElseGet(HeaderForwarding::none);
    }

    private static <T> Map<ApiGroup, T> byGroup(
            CommandSpec command, String flag, List<ApiGroupsFlag> rules, Function<String, T> reading) {
        Map<ApiGroup, T> byGroup = new EnumMap<>(ApiGroup.class);
        for (ApiGroupsFlag rule : rules) {
            T value;
            try {
                value = reading.apply(rule.value());
            } catch (GatunException e) {
                throw new ParameterException(command.commandLine(), flag + ": " + e.getMessage(), e);
            }
            for (ApiGroup group : rule.groups()) {
                if (byGroup.put(group, value) != null) {
                    throw new ParameterException(
                            command.commandLine(), flag + " names the group " + group.wireName() + " twice.");
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

    private static TokenFile tokens(String file) {
        return TokenFile.open(Path.of(file));
    }
}
