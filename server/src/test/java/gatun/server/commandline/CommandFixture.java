// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.ProtocolProvider;
import gatun.protocol.ProtocolProvider.CommonAddresses;
import gatun.runtime.logging.LogSettings;
import gatun.server.EmbeddedServer;
import gatun.server.settings.ListenerSettings.BindSettings;
import gatun.server.settings.LoggingSettings;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServerSettings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;

/** Runs the command line up to the point where it would serve. */
abstract class CommandFixture {
    static final int SERVED = 7;

    final List<ServerSettings> served = new ArrayList<>();
    final List<LogSettings> logs = new ArrayList<>();
    final List<LoggingSettings> logging = new ArrayList<>();
    final List<String> warnings = new ArrayList<>();
    final StringWriter out = new StringWriter();
    final StringWriter err = new StringWriter();

    final Map<String, String> environment = new HashMap<>();

    int run(String... arguments) {
        SettingSources sources = new SettingSources();
        CommandLine command = GatunCommand.create(
                "1.2.3",
                (settings, log, warned) -> {
                    served.add(settings);
                    logs.add(log.log());
                    logging.add(log);
                    warnings.addAll(warned);
                    return SERVED;
                },
                EmbeddedServer::ownedClient,
                sources);
        command.setOut(new PrintWriter(out, true));
        command.setErr(new PrintWriter(err, true));
        int status = GatunCommand.run(command, sources, environment, arguments);
        if (arguments.length > 0 && arguments[0].equals("serve") && !SettingSources.areIn(environment)) {
            servePlainly(status, List.of(arguments).subList(1, arguments.length));
        }
        return status;
    }

    /** Plain arguments say the same without picocli, and none that it refuses, or that only ask for help, are plain. */
    private void servePlainly(int status, List<String> arguments) {
        ServeCommand.servePlainly(
                (settings, log, warned) -> {
                    assertThat(status).as("the status with picocli").isEqualTo(SERVED);
                    assertThat(warnings).isEmpty();
                    assertThat(log).isEqualTo(logging.getLast());
                    ServerSettings parsed = served.removeLast();
                    assertThat(settings.id()).isEqualTo(parsed.id());
                    assertThat(settings.lifecycle()).isEqualTo(parsed.lifecycle());
                    assertThat(settings.models()).isEqualTo(parsed.models());
                    assertThat(settings.memory()).isEqualTo(parsed.memory());
                    assertThat(settings.listeners().http())
                            .isEqualTo(parsed.listeners().http());
                    assertThat(settings.listeners().grpc().keepalive())
                            .isEqualTo(parsed.listeners().grpc().keepalive());
                    // How a file is read is a function, which equals no other.
                    assertThat(shown(settings.listeners().grpc().bind()))
                            .isEqualTo(shown(parsed.listeners().grpc().bind()));
                    assertThat(settings.listeners().metrics())
                            .isEqualTo(parsed.listeners().metrics());
                    assertThat(settings.clients().limits())
                            .isEqualTo(parsed.clients().limits());
                    assertThat(settings.clients().connections())
                            .isEqualTo(parsed.clients().connections());
                    assertThat(settings.tracing()).isEqualTo(parsed.tracing());
                    served.add(settings);
                    return SERVED;
                },
                arguments);
    }

    private static String shown(BindSettings bind) {
        return bind.toString().replaceAll("Lambda/[^]]*", "");
    }

    /** A protocol with the flags that were parsed last. */
    <P extends ProtocolProvider> P protocol(Class<P> type) {
        return served.getLast().listeners().protocols().stream()
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElseThrow();
    }

    /** The port that a protocol listens on by the flags that were parsed last; 0 for none. */
    int port(Class<? extends ProtocolProvider> type) {
        return protocol(type).ports(new CommonAddresses("0.0.0.0", "0.0.0.0")).stream()
                .flatMapToInt(endpoint -> endpoint.port().stream())
                .findFirst()
                .orElse(0);
    }

    ServerSettings serve(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("serve", "--model-repository=models"));
        arguments.addAll(List.of(flags));
        assertThat(run(arguments.toArray(String[]::new))).as(err.toString()).isEqualTo(SERVED);
        return served.getLast();
    }

    /** The model settings of a command line without a model repository. */
    ServedModelSettings serveOnly(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("serve"));
        arguments.addAll(List.of(flags));
        assertThat(run(arguments.toArray(String[]::new))).as(err.toString()).isEqualTo(SERVED);
        return served.getLast().models();
    }

    String refuse(String... flags) {
        List<String> arguments = new ArrayList<>(List.of("serve", "--model-repository=models"));
        arguments.addAll(List.of(flags));
        assertThat(run(arguments.toArray(String[]::new))).isEqualTo(2);
        assertThat(served).isEmpty();
        return err.toString();
    }
}
