// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.bench.BenchCommand;
import gatun.bench.EmbeddedModels;
import gatun.server.commandline.shell.ManualPage;
import gatun.server.settings.ServerSettings;
import gatun.server.text.Version;
import gatun.spi.Backend;
import gatun.spi.discovery.InstalledBackends;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code gatun}: names the commands. Flags without annotations, whose reading costs a tenth of a start. */
public final class GatunCommand implements Callable<Integer> {
    private static final String NAME = "gatun ";
    private static final String SERVE = "serve";
    private static final String VERSION = "version";

    /** The commands that do not depend on others. */
    private static final Set<String> ALONE =
            Set.of(SERVE, "check", "init", "pull", "backends", "models", "top", "bench", "install");

    private final CommandSpec spec = CommandSpec.wrapWithoutInspection(this);

    private GatunCommand(String version) {
        spec.name("gatun").version(NAME + version);
        spec.usageMessage()
                .description("A model inference server.")
                .width(80)
                .synopsisHeading("Usage: ")
                .commandListHeading("%nCommands:%n")
                .optionListHeading("%nFlags:%n")
                .footer(
                        "",
                        "Start with: gatun serve PATH",
                        "An argument @FILE stands for the arguments in FILE.",
                        "'gatun help COMMAND' shows the flags of a command.");
        spec.addOption(HelpFlag.create());
        spec.addOption(OptionSpec.builder("--version")
                .versionHelp(true)
                .description("Show the version.")
                .build());
    }

    /**
     * The command line of the program. {@code embedded} starts a server of a model repository's folder for {@code gatun
     * bench}, which ends with its client.
     */
    public static CommandLine create(String version, ServeAction serve, EmbeddedModels embedded) {
        return create(version, serve, embedded, new SettingSources());
    }

    static CommandLine create(String version, ServeAction serve, EmbeddedModels embedded, SettingSources sources) {
        return create(version, commands(serve, embedded), sources);
    }

    /** The factories of commands by name: to find all commands' flags takes longer than a short command runs. */
    private static Map<String, Supplier<Object>> commands(ServeAction serve, EmbeddedModels embedded) {
        Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        commands.put(SERVE, () -> ServeCommand.create(serve, ServerSettings.standard()));
        commands.put("check", CheckCommand::new);
        commands.put("init", InitCommand::new);
        commands.put("pull", PullCommand::new);
        commands.put("backends", BackendsCommand::new);
        commands.put("models", ModelsCommand::new);
        commands.put("top", TopCommand::new);
        commands.put("bench", () -> new BenchCommand(embedded));
        commands.put(TritonServerArguments.COMMAND, TritonServerCommand::new);
        commands.put(ModelServerArguments.COMMAND, ModelServerCommand::new);
        commands.put("install", InstallCommand::create);
        commands.put("completion", CompletionCommand::new);
        commands.put("man", ManualCommand::new);
        commands.put(VERSION, VersionCommand::new);
        commands.put("help", HelpCommand::new);
        return commands;
    }

    /** Whether the arguments are those of a server, right or wrong. */
    public static boolean serves(String... arguments) {
        return arguments.length > 0
                && (arguments[0].equals(SERVE)
                        || arguments[0].equals(TritonServerArguments.COMMAND)
                        || arguments[0].equals(ModelServerArguments.COMMAND));
    }

    /** Leaves out picocli's converters of JDK types, which {@code gatun serve} does not need. For its own process. */
    public static void leaveOutConverters() {
        System.setProperty("picocli.converters.excludes", "java[.](sql|time|nio)[.].*");
    }

    /** The names of the commands that the first argument may mean. */
    private static Set<String> needed(Set<String> all, String... arguments) {
        String first = arguments.length == 0 ? "" : arguments[0];
        if (ALONE.contains(first)) {
            return Set.of(first);
        }
        if (first.equals(TritonServerArguments.COMMAND) || first.equals(ModelServerArguments.COMMAND)) {
            return Set.of(first, SERVE);
        }
        return all;
    }

    private static CommandLine create(String version, Map<String, Supplier<Object>> commands, SettingSources sources) {
        CommandLine command = new CommandLine(new GatunCommand(version).spec);
        commands.values().forEach(make -> command.addSubcommand(make.get()));
        command.setParameterExceptionHandler(new FlagErrors(sources));
        // As with Triton, the last of several values counts.
        command.setOverwrittenOptionsAllowed(true);
        command.setAbbreviatedOptionsAllowed(false);
        // ArgumentFiles does that, before the sources of flags are put in order.
        command.setExpandAtFiles(false);
        return command;
    }

    /**
     * Runs the command line, with flags from the environment and the configuration file. {@code arguments} may be those
     * of Triton's or TensorFlow Serving's program, after its name.
     */
    public static int run(
            String version,
            ServeAction serve,
            EmbeddedModels embedded,
            Map<String, String> environment,
            String... arguments) {
        if (arguments.length > 0 && arguments[0].equals(SERVE) && !SettingSources.areIn(environment)) {
            List<String> rest = List.of(arguments).subList(1, arguments.length);
            OptionalInt status = ServeCommand.servePlainly(serve, rest);
            if (status.isPresent()) {
                return status.getAsInt();
            }
        }
        SettingSources sources = new SettingSources();
        Map<String, Supplier<Object>> commands = commands(serve, embedded);
        commands.keySet().retainAll(needed(Set.copyOf(commands.keySet()), arguments));
        CommandLine command = create(version, commands, sources);
        return run(command, sources, environment, arguments);
    }

    /** Prints the version when {@code arguments} ask for that alone, before the slow command line; true if they do. */
    public static boolean answeredVersion(String version, String... arguments) {
        boolean asked = arguments.length == 1 && (arguments[0].equals("--version") || arguments[0].equals(VERSION));
        if (asked) {
            System.out.println(NAME + version);
        }
        return asked;
    }

    static int run(CommandLine command, SettingSources sources, Map<String, String> environment, String... typed) {
        String[] arguments;
        try {
            arguments = ArgumentFiles.expand(List.of(typed)).toArray(String[]::new);
        } catch (ConfigurationFile.InvalidFileException e) {
            return refuse(command, e);
        }
        if (ModelServerArguments.askVersion(arguments)) {
            command.getOut()
                    .println("TensorFlow ModelServer: "
                            + String.join(" ", command.getCommandSpec().version()));
            command.getOut().println("TensorFlow Library: " + libraryVersion());
            command.getOut().flush();
            return ExitCode.OK;
        }
        if (TritonServerArguments.askVersion(arguments)) {
            command.getOut()
                    .println("Triton Inference Server: "
                            + String.join(" ", command.getCommandSpec().version()));
            command.getOut().flush();
            return ExitCode.OK;
        }
        String[] translated = TritonServerArguments.translate(ModelServerArguments.translate(arguments));
        return execute(command, sources, environment, List.of(translated));
    }

    /** Runs {@code command} with {@code arguments} and the flags that the sources of lower rank add. */
    static int execute(
            CommandLine command, SettingSources sources, Map<String, String> environment, List<String> arguments) {
        List<String> all = new ArrayList<>(arguments);
        if (!arguments.isEmpty() && arguments.getFirst().equals(SERVE)) {
            CommandSpec serve =
                    Objects.requireNonNull(command.getSubcommands().get(SERVE)).getCommandSpec();
            try {
                List<String> whole = FlagBeginning.complete(serve, arguments.subList(1, arguments.size()));
                List<String> flags = OptionalValues.complete(serve, whole);
                all = sources.merge(serve, flags, environment);
            } catch (ParameterException e) {
                return new FlagErrors(sources).handleParseException(e, arguments.toArray(new String[0]));
            } catch (ConfigurationFile.InvalidFileException e) {
                return refuse(command, e);
            }
            all.addFirst(SERVE);
        }
        return command.execute(all.toArray(new String[0]));
    }

    private static String libraryVersion() {
        return InstalledBackends.find(Optional.empty()).services().stream()
                .map(Backend::libraryVersion)
                .flatMap(Optional::stream)
                .findFirst()
                .orElse("not a part of this server");
    }

    private static int refuse(CommandLine command, ConfigurationFile.InvalidFileException failure) {
        command.getErr().println("gatun: " + failure.getMessage());
        command.getErr().flush();
        return ExitCode.USAGE;
    }

    /**
     * Overlays {@code standard} with flags of {@code gatun serve}; {@code warn} is told of flags without effect. Throws
     * {@link IllegalArgumentException} with the text of the command line for flags that are wrong.
     */
    public static ServerSettings overlay(ServerSettings standard, List<String> flags, Consumer<String> warn) {
        List<ServerSettings> read = new ArrayList<>(1);
        ServeAction take = (settings, log, warnings) -> {
            warnings.forEach(warn);
            read.add(settings);
            return ExitCode.OK;
        };
        SettingSources sources = new SettingSources();
        CommandLine command = create(Version.text(), Map.of(SERVE, () -> ServeCommand.create(take, standard)), sources);
        StringWriter problem = new StringWriter();
        command.setErr(new PrintWriter(problem));
        List<String> arguments = new ArrayList<>(flags);
        arguments.addFirst(SERVE);
        int status = execute(command, sources, Map.of(), arguments);
        if (status != ExitCode.OK) {
            throw new IllegalArgumentException(
                    problem.toString().lines().findFirst().orElse("wrong flags " + flags));
        }
        return read.getFirst();
    }

    @Override
    public Integer call() {
        spec.commandLine().usage(spec.commandLine().getErr());
        return ExitCode.USAGE;
    }

    /** {@code gatun man}: the manual page, made from the commands and flags that there are. */
    @Command(
            name = "man",
            description = "Prints the manual page, for 'gatun man | man -l -'.",
            usageHelpWidth = 80,
            synopsisHeading = "Usage: ",
            optionListHeading = "%nFlags:%n")
    static final class ManualCommand implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
        CommandSpec spec;

        @Mixin
        CommandSpec help = HelpFlag.mixin();

        @Override
        public Integer call() {
            spec.commandLine().getOut().print(ManualPage.of(spec.parent()));
            spec.commandLine().getOut().flush();
            return ExitCode.OK;
        }
    }

    /** {@code gatun version}: the same as {@code --version}, for those who ask in words. */
    @Command(
            name = VERSION,
            description = "Shows the version.",
            usageHelpWidth = 80,
            synopsisHeading = "Usage: ",
            optionListHeading = "%nFlags:%n")
    static final class VersionCommand implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
        CommandSpec spec;

        @Mixin
        CommandSpec help = HelpFlag.mixin();

        @Override
        public Integer call() {
            CommandLine gatun = spec.parent().commandLine();
            gatun.printVersionHelp(spec.commandLine().getOut());
            spec.commandLine().getOut().flush();
            return ExitCode.OK;
        }
    }

    /** {@code gatun tensorflow_model_server}, which {@link ModelServerArguments} translate: here it has its help. */
    @Command(
            name = ModelServerArguments.COMMAND,
            description = {
                "Serves as TensorFlow Serving's program of this name does.",
                "",
                "Takes the command line of that program: listens only where it would, on gRPC port 8500 unless --port says"
                        + " otherwise. 'gatun help serve' lists its flags beside the others."
            },
            customSynopsis = "gatun " + ModelServerArguments.COMMAND + " [FLAG]...",
            usageHelpWidth = 80,
            synopsisHeading = "Usage: ",
            optionListHeading = "%nFlags:%n")
    static final class ModelServerCommand implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
        CommandSpec spec;

        @Mixin
        CommandSpec help = HelpFlag.mixin();

        @Override
        public Integer call() {
            spec.commandLine().usage(spec.commandLine().getErr());
            return ExitCode.USAGE;
        }
    }

    /** {@code gatun tritonserver}, which {@link TritonServerArguments} translate: here it has its help. */
    @Command(
            name = TritonServerArguments.COMMAND,
            description = {
                "Serves as Triton's program of this name does.",
                "",
                "Takes the command line of that program, most of which 'gatun serve' has too. A distribution also has it"
                        + " as bin/tritonserver. 'gatun help serve' lists the flags."
            },
            customSynopsis = "gatun " + TritonServerArguments.COMMAND + " [FLAG]...",
            usageHelpWidth = 80,
            synopsisHeading = "Usage: ",
            optionListHeading = "%nFlags:%n")
    static final class TritonServerCommand implements Callable<Integer> {
        @Spec
        @SuppressWarnings("NullAway.Init") // picocli sets it before anything is called
        CommandSpec spec;

        @Mixin
        CommandSpec help = HelpFlag.mixin();

        @Override
        public Integer call() {
            spec.commandLine().usage(spec.commandLine().getErr());
            return ExitCode.USAGE;
        }
    }
}
