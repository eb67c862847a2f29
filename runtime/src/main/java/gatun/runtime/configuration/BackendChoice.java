// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Chooses a model's backend among {@code engines} by its configuration, or else by the files of its version. */
record BackendChoice(EngineCatalog engines) {
    /** The values of {@code runtime} that mean nothing else than the backend. */
    private static final Pattern RUNTIMES = Pattern.compile("libtriton_[A-Za-z0-9_]+\\.so|model\\.py");

    /** Completes backend, platform and file name, also by a version's files. Throws when unknown or contradictory. */
    ModelConfig complete(ModelConfig config, Optional<Path> versionDirectory) {
        ModelConfig.Builder completed = config.toBuilder();
        engines.formats().stream()
                .filter(format -> format.platforms().contains(config.getPlatform()))
                .findFirst()
                .ifPresent(format -> completed.setPlatform(format.platform()));
        boolean named = !config.getPlatform().isEmpty() || !config.getBackend().isEmpty();
        if (versionDirectory.isPresent() && (!named || config.getBackend().equals(AbsentEngines.LITE_BACKEND))) {
            refuseLite(config, versionDirectory.get());
        }
        Optional<ModelFormat> format = named ? namedFormat(completed.build(), versionDirectory) : Optional.empty();
        if (!named && versionDirectory.isPresent()) {
            format = formatOfFile(config, versionDirectory.get());
            if (format.isEmpty()) {
                completed.setBackend(backendInName(config.getName())
                        .orElseThrow(() -> untold(
                                config.getName(),
                                ModelFiles.otherName(engines, versionDirectory.get(), ""),
                                withoutFile())));
            }
        }
        if (named && format.isEmpty() && completed.getBackend().isEmpty() && versionDirectory.isPresent()) {
            // A platform that nobody knows contradicts what the file says.
            formatOfFile(config, versionDirectory.get()).ifPresent(found -> completed.setBackend(found.backend()));
        }
        format.filter(found -> !named || !found.is(Trait.FILE_BY_PARAMETER)).ifPresent(found -> fill(completed, found));
        if (format.isEmpty() && completed.getDefaultModelFilename().isEmpty() && versionDirectory.isPresent()) {
            completed.setDefaultModelFilename("model." + completed.getBackend());
        }
        check(completed.build());
        return completed.build();
    }

    private void refuseLite(ModelConfig config, Path versionDirectory) {
        if (Files.exists(versionDirectory.resolve(AbsentEngines.LITE))
                && engines.formats().stream()
                        .noneMatch(format -> Files.exists(versionDirectory.resolve(format.fileName())))) {
            throw AbsentEngines.refusedLite(config.getName());
        }
    }

    private String withoutFile() {
        return "put the model's file"
                + engines.exampleFile().map(file -> ", such as " + file + ",").orElse("")
                + " into each version's folder, or write backend: \"...\" in config.pbtxt";
    }

    /** The format that backend and platform name; of a backend that engines share, and no platform, that of the file. */
    private Optional<ModelFormat> namedFormat(ModelConfig config, Optional<Path> versionDirectory) {
        String backend = config.getBackend();
        String platform = config.getPlatform();
        if (platform.isEmpty() && versionDirectory.isPresent() && engines.isShared(backend)) {
            Optional<ModelFormat> found = formatOfFile(config, versionDirectory.get());
            if (found.isPresent() && found.get().backend().equals(backend)) {
                return found;
            }
        }
        return engines.formats().stream()
                .filter(format -> format.platforms().contains(platform)
                        || (format.backend().equals(backend) && (platform.isEmpty() || !engines.isShared(backend))))
                .findFirst();
    }

    private Optional<ModelFormat> formatOfFile(ModelConfig config, Path versionDirectory) {
        String fileName = config.getDefaultModelFilename();
        return engines.formats().stream()
                .filter(format -> fileName.isEmpty()
                        ? Files.exists(versionDirectory.resolve(format.fileName()))
                        : format.hasEnding(fileName))
                .findFirst();
    }

    /** What is wrong with a model without files whose configuration and name tell no backend; nothing if they do. */
    static Optional<ConfigurationException> untold(ModelConfig config, String advice) {
        boolean told = !config.getPlatform().isEmpty()
                || !config.getBackend().isEmpty()
                || backendInName(config.getName()).isPresent();
        return told ? Optional.empty() : Optional.of(untold(config.getName(), "", advice));
    }

    private static ConfigurationException untold(String modelName, String found, String advice) {
        return new ConfigurationException(
                ConfigurationPath.MODEL,
                "Invalid model name: Could not determine backend for model '" + modelName
                        + "' with no backend in model configuration. Expected model name of the form"
                        + " 'model.<backend_name>'." + found,
                advice);
    }

    private static Optional<String> backendInName(String modelName) {
        int dot = modelName.lastIndexOf('.');
        return dot < 0 || dot == modelName.length() - 1 ? Optional.empty() : Optional.of(modelName.substring(dot + 1));
    }

    private static void fill(ModelConfig.Builder config, ModelFormat format) {
        if (config.getBackend().isEmpty()) {
            config.setBackend(format.backend());
        }
        if (config.getPlatform().isEmpty()) {
            config.setPlatform(format.platform());
        }
        if (config.getDefaultModelFilename().isEmpty()) {
            config.setDefaultModelFilename(format.fileName());
        }
    }

    private void check(ModelConfig config) {
        String platform = config.getPlatform();
        String backend = config.getBackend();
        if (platform.isEmpty() && backend.isEmpty()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "must specify 'platform' or 'backend' for '" + config.getName() + "'",
                    "write backend: " + examples(ModelFormat::backend, ", ") + " or the name of another backend");
        }
        if (backend.isEmpty()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "unexpected platform type '" + platform + "' for " + config.getName(),
                    "write platform: " + examples(ModelFormat::platform, " or ") + ", or backend: \"...\"");
        }
        List<ModelFormat> formats = engines.formats();
        boolean known = formats.stream()
                .anyMatch(format -> format.platforms().contains(platform)
                        || (format.backend().equals(backend)
                                && !format.platforms().isEmpty()));
        boolean agree = formats.stream()
                .anyMatch(format -> format.platforms().contains(platform)
                        && format.backend().equals(backend));
        if (!platform.isEmpty() && known && !agree) {
            throw new ConfigurationException(
                    ConfigurationPath.of("platform"),
                    "unexpected 'platform' and 'backend' pair, got:" + platform + ", " + backend,
                    "leave one of the two out");
        }
        checkRuntime(config);
    }

    private String examples(Function<ModelFormat, String> name, String separator) {
        return engines.examples().stream()
                .map(format -> '"' + name.apply(format) + '"')
                .collect(Collectors.joining(separator));
    }

    /** Accepts Triton's library for a backend, or a Python backend's file, without effect; others differ there. */
    private static void checkRuntime(ModelConfig config) {
        String runtime = config.getRuntime();
        if (runtime.indexOf('/') >= 0) {
            throw new ConfigurationException(
                    ConfigurationPath.of("runtime"),
                    "backend library name '" + runtime + "' escapes backend directory",
                    "leave 'runtime' out: it names a library of Triton's, and has no effect here");
        }
        if (!runtime.isEmpty() && !RUNTIMES.matcher(runtime).matches()) {
            throw new ConfigurationException(
                    ConfigurationPath.of("runtime"),
                    "unable to find backend library '" + runtime + "' for model '" + config.getName()
                            + "', check model config runtime field",
                    "leave 'runtime' out, or name Triton's library for the backend, such as libtriton_"
                            + config.getBackend() + ".so, which has no effect here");
        }
    }
}
