// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.BatchingRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BatchingFilesTest {
    @TempDir
    Path folder;

    private static int processors() {
        return Runtime.getRuntime().availableProcessors();
    }

    private Path file(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }

    private Optional<BatchingRule> rule(String text) throws IOException {
        return BatchingFiles.of(Optional.of(file("batching.config", text)), false)
                .of(folder);
    }

    @Test
    void shouldHaveTensorFlowServingsDefaults() {
        assertThat(BatchingFiles.of(Optional.empty(), false).of(folder))
                .contains(new BatchingRule(1000, 1000, 0, 10, processors(), List.of(), false));
    }

    @Test
    void shouldReadEveryParameter() throws IOException {
        assertThat(rule("""
                max_batch_size { value: 32 }
                batch_timeout_micros { value: 5000 }
                max_enqueued_batches { value: 7 }
                num_batch_threads { value: 3 }
                thread_pool_name { value: "batches" }
                allowed_batch_sizes: 4
                allowed_batch_sizes: 8
                pad_variable_length_inputs: true
                enable_large_batch_splitting { value: true }
                max_execution_batch_size { value: 8 }
                """)).contains(new BatchingRule(32, 8, 5_000_000, 7, 3, List.of(4, 8), true));
    }

    @Test
    void shouldNotLimitRunsWhereNothingIsSplit() throws IOException {
        assertThat(rule("max_batch_size { value: 32 } max_execution_batch_size { value: 8 }"))
                .contains(new BatchingRule(32, 32, 0, 10, processors(), List.of(), false));
    }

    @Test
    void shouldTakeTheParametersThatAVersionBrings() throws IOException {
        Path common = file("batching.config", "max_batch_size { value: 32 } num_batch_threads { value: 3 }");
        BatchingFiles files = BatchingFiles.of(Optional.of(common), true);
        assertThat(files.of(folder)).isEmpty();

        file("batching_params.pbtxt", "max_batch_size { value: 5 } num_batch_threads { value: 9 }");
        assertThat(files.of(folder)).contains(new BatchingRule(5, 5, 0, 10, 3, List.of(), false));

        file("batching_params.pbtxt", "max_batch_size: 5");
        assertThatThrownBy(() -> files.of(folder))
                .isInstanceOf(GatunException.class)
                .hasMessageStartingWith("Invalid protobuf file: '" + folder.resolve("batching_params.pbtxt")
                        + "': Error parsing text-format tensorflow.serving.BatchingParameters: 1:")
                .hasMessageEndingWith("expected tensorflow.serving.BatchingParameters in protobuf's text format");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "max_batch_size { value: 0 } | max_batch_size is 0; expected a number from 1 to 2147483647",
                "max_batch_size { value: 3000000000 } | max_batch_size is 3000000000; expected a number from 1 to"
                        + " 2147483647",
                "batch_timeout_micros { value: -1 } | batch_timeout_micros is -1; expected a number of microseconds"
                        + " from 0 up",
                "max_enqueued_batches { value: -2 } | max_enqueued_batches is -2; expected a number from 1 to"
                        + " 2147483647",
                "num_batch_threads { value: 0 } | num_batch_threads is 0; expected a number from 1 to 2147483647",
                "allowed_batch_sizes: 4 | Last entry in allowed_batch_sizes must match max_batch_size; last entry"
                        + " was 4; expected 1000",
                "max_batch_size { value: 4 } allowed_batch_sizes: 4 allowed_batch_sizes: 4 | allowed_batch_sizes"
                        + " entries must be monotonically increasing; 4 comes after 4",
                "enable_large_batch_splitting { value: true } max_execution_batch_size { value: 8 }"
                        + " allowed_batch_sizes: 4 | Last entry in allowed_batch_sizes must match"
                        + " max_execution_batch_size; last entry was 4; expected 8",
                "enable_large_batch_splitting { value: true } max_execution_batch_size { value: 2000 } |"
                        + " max_execution_batch_size is 2000, more than max_batch_size, which is 1000; expected at"
                        + " most that"
            })
    void shouldRefuseWhatMakesNoSense(String text, String expected) {
        assertThatThrownBy(() -> rule(text)).isInstanceOf(GatunException.class).hasMessage(expected);
    }

    @Test
    void shouldSayWhichFileIsMissing() {
        Path missing = folder.resolve("missing");
        assertThatThrownBy(() -> BatchingFiles.of(Optional.of(missing), false))
                .isInstanceOf(GatunException.class)
                .hasMessageStartingWith("cannot read " + missing);
    }
}
