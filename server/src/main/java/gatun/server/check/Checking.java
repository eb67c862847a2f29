// SPDX-License-Identifier: Apache-2.0
package gatun.server.check;

import gatun.isolation.ProcessIsolation;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ProtocolProvider;
import gatun.runtime.ModelSettings;
import gatun.runtime.ServedPath;
import gatun.runtime.WarmUpSource;
import gatun.runtime.check.ModelReport;
import gatun.runtime.check.RepositoryCheck;
import gatun.runtime.configuration.EngineCatalog;
import gatun.runtime.limits.LimitSettings;
import gatun.runtime.logging.LogSettings;
import gatun.runtime.repository.RepositoryAdvice;
import gatun.runtime.repository.ServedPaths;
import gatun.runtime.server.ServerOptions;
import gatun.server.logging.Log;
import gatun.server.settings.CheckSettings;
import gatun.server.settings.ListenerSettings;
import gatun.server.text.Version;
import gatun.spi.discovery.InstalledBackends;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;

/** One run of {@code gatun check}: loads each model as a server would, reports its faults, and serves nothing. */
public final class Checking {
    private static final int GOOD = 0;

    /** At least one would not. */
    private static final int BAD = 1;

    /** There was nothing to check: no such folder, or no such model. */
    private static final int WRONG = 2;

    /** Holds warm-up requests and states of sequences, as in a server. */
    private static final long BUFFER_POOL_BYTES = 1L << 30;

    private Checking() {}

    /**
     * Checks the models of {@code settings}.
     *
     * @param out receives a report of each model, and a last line
     * @param err receives the reason why nothing can be checked
     * @return the exit status: 0 when every model would be served, 1 when one would not, 2 when there is nothing to
     *     check
     */
    public static int run(CheckSettings settings, PrintWriter out, PrintWriter err) {
        // The report has the failures of models that a server would log.
        Log.install(LogSettings.standard().withInfo(false).withWarning(false).withError(false));
        InstalledBackends installed = InstalledBackends.find(settings.backendDirectory());
        EngineCatalog engines = new EngineCatalog(installed.all());
        List<ServedPath> paths;
        try {
            paths = paths(settings, engines);
        } catch (GatunException e) {
            err.println("gatun: " + e.getMessage());
            err.flush();
            return WRONG;
        }
        try {
            return check(settings, installed, paths, check -> {
                Set<String> unknown = new TreeSet<>(settings.models());
                unknown.removeAll(check.models());
                if (!unknown.isEmpty()) {
                    err.println(
                            "gatun: no model " + unknown + " in " + settings.paths() + "; there are " + check.models());
                    return WRONG;
                }
                return report(settings, engines, paths, check, out);
            });
        } catch (GatunException e) {
            err.println("gatun: " + e.getMessage());
            return WRONG;
        } finally {
            out.flush();
            err.flush();
        }
    }

    /**
     * Checks the one model that {@code settings} name.
     *
     * @throws GatunException when there is nothing at its path that could be a model
     */
    public static ModelReport reportOf(CheckSettings settings) {
        Log.install(LogSettings.standard().withInfo(false).withWarning(false).withError(false));
        InstalledBackends installed = InstalledBackends.find(settings.backendDirectory());
        List<ServedPath> paths = paths(settings, new EngineCatalog(installed.all()));
        return check(settings, installed, paths, check -> {
            List<ModelReport> models = new ArrayList<>();
            check.run(name -> true, models::add);
            return models.getFirst();
        });
    }

    private static List<ServedPath> paths(CheckSettings settings, EngineCatalog engines) {
        return settings.paths().stream()
                .map(path -> ServedPaths.read(engines, path))
                .toList();
    }

    private static <T> T check(
            CheckSettings settings,
            InstalledBackends installed,
            List<ServedPath> paths,
            Function<RepositoryCheck, T> user) {
        try (BufferPool buffers = new BufferPool(BUFFER_POOL_BYTES);
                SharedRegions regions = SharedRegions.open(buffers);
                ProcessIsolation isolation = new ProcessIsolation(settings.backendDirectory(), Optional.empty());
                RepositoryCheck check = RepositoryCheck.open(
                        options(settings, buffers, regions).installed(installed).isolation(isolation, Set.of()),
                        paths,
                        settings.configName())) {
            return user.apply(check);
        }
    }

    private static int report(
            CheckSettings settings,
            EngineCatalog engines,
            List<ServedPath> paths,
            RepositoryCheck check,
            PrintWriter out) {
        CheckReport report = new CheckReport(out, settings.showConfigurations());
        List<String> remarks = paths.stream()
                .flatMap(path -> path instanceof ServedPath.Repository repository
                        ? RepositoryAdvice.remarks(engines, repository.folder()).stream()
                        : Stream.empty())
                .toList();
        remarks.forEach(out::println);
        List<ModelReport> models = new ArrayList<>();
        check.run(name -> settings.models().isEmpty() || settings.models().contains(name), model -> {
            models.add(model);
            report.model(model);
        });
        long bad = models.stream().filter(model -> !model.isGood()).count();
        report.end(models.size(), bad);
        return bad == 0 && remarks.isEmpty() ? GOOD : BAD;
    }

    private static ServerOptions options(CheckSettings settings, BufferPool buffers, SharedRegions regions) {
        List<ProtocolProvider> protocols = ListenerSettings.standard().protocols();
        ServerOptions options = ServerOptions.of(buffers, regions)
                .version(Version.text())
                .models(ModelSettings.STANDARD.with(ModelSettings.STANDARD
                        .loading()
                        .withConfigurations(
                                settings.configName(), settings.autoComplete(), settings.modelNamespacing())))
                .configurationRule(config -> protocols.forEach(protocol -> protocol.checkConfiguration(config)))
                .warmUps(WarmUpSource.of(protocols.stream()
                        .map(protocol -> protocol.recordedRequests(buffers, LimitSettings.standard(), 1))
                        .toList()));
        settings.backendOptions()
                .forEach((backend, values) ->
                        values.forEach((name, value) -> options.backendOption(backend, name, value)));
        return options;
    }
}
