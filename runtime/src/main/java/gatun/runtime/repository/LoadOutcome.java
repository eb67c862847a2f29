// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLoadException;
import gatun.spi.Setting;
import java.util.Collection;
import java.util.List;
import java.util.stream.Collectors;

/** The failures of loads that clients asked for, in the protocol's words. */
final class LoadOutcome {
    /** How many models a text names at most. */
    private static final int NAMES = 20;

    private LoadOutcome() {}

    /** Throws {@link ModelLoadException} when there was no version, or one that could not be loaded. */
    static void requireSuccess(ModelSource source, List<ModelLoader.Result> results) {
        String name = source.name();
        List<GatunException> reasons =
                results.stream().flatMap(result -> result.failure().stream()).toList();
        if (source.versions().isEmpty()) {
            String missing = VersionPolicy.missing(source.config().getVersionPolicy(), source.present())
                    .map(text -> ": " + text)
                    .orElse("");
            throw new ModelLoadException(
                    ErrorCode.INVALID_ARGUMENT,
                    "failed to load '" + name + "', no version is available" + missing,
                    reasons);
        }
        StringBuilder failures = new StringBuilder();
        for (ModelLoader.Result result : results) {
            result.failure().ifPresent(failure -> failures.append("version ")
                    .append(result.entry().version())
                    .append(" is at UNAVAILABLE state: ")
                    .append(codeText(failure.code()))
                    .append(": ")
                    .append(failure.getMessage())
                    .append(";\n"));
        }
        if (!failures.isEmpty()) {
            throw new ModelLoadException(
                    ErrorCode.INVALID_ARGUMENT, "load failed for model '" + name + "': " + failures, reasons);
        }
    }

    /** The failure for a model whose files cannot be read. {@code why} says what is added to the protocol's text. */
    static GatunException unreadable(String name, String why, GatunException reason) {
        return new ModelLoadException(
                ErrorCode.INTERNAL,
                "failed to load '" + name + "', failed to poll from model repository" + why,
                List.of(reason));
    }

    /** Advice for a model that is not there; {@code present} are told to those who may load, and so list, models. */
    static String absence(String name, Collection<ModelIdentifier> present) {
        List<String> names =
                present.stream().map(ModelIdentifier::name).distinct().toList();
        String some = names.stream().limit(NAMES).collect(Collectors.joining(", "));
        return "; there is no folder '" + name + "' in it"
                + (names.isEmpty() ? "" : ", but " + some + (names.size() > NAMES ? ", ..." : ""));
    }

    /** The failure for a model that a request brings while there are {@code count} models already. */
    static GatunException tooMany(String name, int count) {
        return new GatunException(
                ErrorCode.RESOURCE_EXHAUSTED,
                "failed to load '" + name + "', there are " + count
                        + " models, the limit for models of files that requests bring; the server's "
                        + Setting.LIMIT_MODELS + " sets it");
    }

    private static String codeText(ErrorCode code) {
        return switch (code) {
            case UNKNOWN -> "Unknown";
            case INTERNAL -> "Internal";
            case NOT_FOUND -> "Not found";
            case INVALID_ARGUMENT -> "Invalid argument";
            case UNAVAILABLE -> "Unavailable";
            case RESOURCE_EXHAUSTED -> "Resource exhausted";
            case UNSUPPORTED -> "Unsupported";
            case PERMISSION_DENIED -> "Permission denied";
            case ALREADY_EXISTS -> "Already exists";
            case CANCELLED -> "Cancelled";
        };
    }
}
