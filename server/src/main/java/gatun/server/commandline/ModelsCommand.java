// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.server.text.ModelListing;
import gatun.server.text.TextTable;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code gatun models}: lists the models of a running server. */
@Command(
        name = "models",
        description = "Lists what a running server serves, and in which state it is.",
        sortOptions = false,
        usageHelpWidth = 80,
        synopsisHeading = "Usage: ",
        optionListHeading = "%nFlags:%n")
final class ModelsCommand implements Callable<Integer> {
    private static final int UNREACHABLE = 1;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
    CommandSpec spec;

    @Mixin
    RemoteServerFlags server = new RemoteServerFlags();

    @Option(names = "--ready", description = "List only what answers now.")
    boolean onlyReady;

    @Mixin
    CommandSpec help = HelpFlag.mixin();

    @Override
    public Integer call() {
        PrintWriter out = spec.commandLine().getOut();
        try (GatunClient client = GatunClient.connect(server.options(spec.commandLine()))) {
            out.print(ModelListing.of(client, onlyReady, TextTable.standard()));
            out.flush();
            return 0;
        } catch (ClientException e) {
            PrintWriter err = spec.commandLine().getErr();
            err.println("gatun: " + server.url + ": " + e.getMessage());
            err.flush();
            return UNREACHABLE;
        }
    }
}
