// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelStatus;
import gatun.runtime.server.RepositoryControl;
import gatun.wire.tensorflow.Code;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import gatun.wire.tensorflow.serving.StatusProto;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalLong;

/** The states of a model's versions, as TensorFlow Serving calls them. */
public final class VersionStatuses {
    private VersionStatuses() {}

    /** The states of a model's versions, the newest first, or of {@code version} only. Throws NOT_FOUND without any. */
    public static List<ModelVersionStatus> of(RepositoryControl server, String model, OptionalLong version) {
        List<ModelVersionStatus> statuses = server.index().stream()
                .filter(row -> row.name().equals(model) && !row.version().isEmpty())
                .map(VersionStatuses::of)
                .filter(status -> version.isEmpty() || status.getVersion() == version.getAsLong())
                .sorted(Comparator.comparingLong(ModelVersionStatus::getVersion).reversed())
                .toList();
        if (statuses.isEmpty()) {
            throw new GatunException(
                    ErrorCode.NOT_FOUND,
                    version.isEmpty()
                            ? "Could not find any versions of model " + model
                            : "Could not find version " + version.getAsLong() + " of model " + model);
        }
        return statuses;
    }

    private static ModelVersionStatus of(ModelStatus row) {
        boolean failed = row.isFailed();
        return ModelVersionStatus.newBuilder()
                .setVersion(Long.parseLong(row.version()))
                .setState(
                        switch (row.state()) {
                            case UNKNOWN -> ModelVersionStatus.State.START;
                            case LOADING -> ModelVersionStatus.State.LOADING;
                            case READY -> ModelVersionStatus.State.AVAILABLE;
                            case UNLOADING -> ModelVersionStatus.State.UNLOADING;
                            case UNAVAILABLE -> ModelVersionStatus.State.END;
                        })
                .setStatus(StatusProto.newBuilder()
                        .setErrorCode(failed ? Code.UNKNOWN : Code.OK)
                        .setErrorMessage(failed ? row.reason() : ""))
                .build();
    }
}
