// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.runtime.ModelSettings;
import gatun.runtime.ModelSettings.Control;
import gatun.runtime.ModelSettings.Loading;
import gatun.runtime.ModelSettings.Runs;
import gatun.runtime.ResourceAmount;
import gatun.spi.Tuning.Subject;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;

/** The standard settings of models, each with one change. */
final class ChangedSettings {
    private static final ModelSettings STANDARD = ModelSettings.STANDARD;
    private static final Loading LOADING = STANDARD.loading();
    private static final Runs RUNS = STANDARD.runs();

    private ChangedSettings() {}

    static ModelSettings configName(String name) {
        return STANDARD.with(LOADING.withConfigurations(name, true, false));
    }

    static ModelSettings loadRetries(int retries, Duration interval) {
        return STANDARD.with(new Loading(
                "", true, false, LOADING.threads(), retries, interval, LOADING.timeout(), OptionalLong.empty()));
    }

    static ModelSettings modelMemory(long byteSize) {
        return STANDARD.with(new Loading(
                "", true, false, LOADING.threads(), 0, Duration.ZERO, LOADING.timeout(), OptionalLong.of(byteSize)));
    }

    static ModelSettings rateLimit(List<ResourceAmount> amounts) {
        return STANDARD.with(new Runs(Optional.of(amounts), RUNS.learned(), RUNS.queueLimit(), RUNS.trustsClients()));
    }

    static ModelSettings learned(Set<Subject> subjects) {
        return STANDARD.with(new Runs(Optional.empty(), subjects, RUNS.queueLimit(), RUNS.trustsClients()));
    }

    static ModelSettings queueLimit(int count) {
        return STANDARD.with(new Runs(Optional.empty(), RUNS.learned(), count, RUNS.trustsClients()));
    }

    static ModelSettings readyWithoutAllModels() {
        Control control = STANDARD.control();
        return STANDARD.with(new Control(
                control.mode(),
                control.pollInterval(),
                control.loadModels(),
                control.exitOnError(),
                false,
                control.logged()));
    }
}
