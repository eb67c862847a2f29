// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.runtime.logging.LogSettings;
import gatun.runtime.logging.LogSettings.LogFormat;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

class LogTest {
    @TempDir
    Path folder;

    @AfterEach
    void restore() {
        Log.install(LogSettings.standard());
    }

    private static void logEachLevel(String logger) {
        Logger log = LoggerFactory.getLogger(logger);
        log.error("an error");
        log.warn("a warning");
        log.info("information");
        log.debug("a detail");
    }

    private Path install(int verbosity, boolean info, boolean warning, boolean error) {
        Path file = folder.resolve("log");
        Log.install(new LogSettings(verbosity, info, warning, error, LogFormat.DEFAULT, Optional.of(file)));
        return file;
    }

    @Test
    void shouldNotLetClientsFillTheLogWithHeadersThatCannotBeRead() {
        Path file = install(0, true, true, true);
        logEachLevel("org.eclipse.jetty.util.HostPort");
        assertThat(file).content().contains("an error").doesNotContain("a warning", "information");
    }

    @Test
    void shouldWriteWhatIsNotVerboseToTheFile() {
        Path file = install(0, true, true, true);
        logEachLevel("gatun.server.Some");
        assertThat(file)
                .content()
                .contains("an error", "a warning", "information")
                .doesNotContain("a detail");
    }

    @Test
    void shouldSwitchEachSeverityOffAlone() {
        Path file = install(1, false, true, false);
        logEachLevel("gatun.server.Some");
        assertThat(file).content().contains("a warning", "a detail").doesNotContain("an error", "information");
    }

    @Test
    void shouldHearLibrariesOnlyWhereTheyWarnOrAreAskedFor() {
        Path file = install(1, true, true, true);
        logEachLevel("io.helidon.Some");
        assertThat(file).content().contains("an error", "a warning").doesNotContain("information", "a detail");
        install(2, true, true, true);
        logEachLevel("io.helidon.Some");
        assertThat(file).content().contains("information", "a detail");
    }

    @Test
    void shouldAppendToWhatIsThere() {
        Path file = install(0, true, true, true);
        logEachLevel("gatun.first");
        install(0, true, true, true);
        logEachLevel("gatun.second");
        assertThat(file).content().contains("first]", "second]");
    }

    @Test
    void shouldNameTheFlagWhereTheFileCannotBeOpened() {
        Path file = folder.resolve("missing").resolve("log");
        LogSettings settings = new LogSettings(0, true, true, true, LogFormat.DEFAULT, Optional.of(file));
        assertThatThrownBy(() -> Log.install(settings))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("--log-file=" + file);
    }
}
