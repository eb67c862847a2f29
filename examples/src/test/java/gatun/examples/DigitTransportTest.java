// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import gatun.memory.cuda.CudaDevices;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class DigitTransportTest {
    private static final float[] SEVEN = {0, 0, 0, 0, 0, 0, 0, 0.75f, 0.25f, 0};

    private final DigitPicture picture = DigitPicture.read(Path.of("pictures", "seven-serif.png"));

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"CUDA_HTTP", "CUDA_GRPC"})
    void shouldBringThePixelsThereAndTheAnswerBack(DigitTransport transport) throws IOException {
        try (FakeServer server = new FakeServer(SEVEN);
                DigitClient client = transport.open(server.httpUrl(), server.grpcUrl())) {
            assertThat(client.probabilities(picture)).isEqualTo(SEVEN);

            assertThat(server.received).hasSize(1);
            assertThat(server.received.getFirst()).isEqualTo(picture.pixels());
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"CUDA_HTTP", "CUDA_GRPC"})
    void shouldServeManyPicturesWithOneClient(DigitTransport transport) throws IOException {
        DigitPicture other = DigitPicture.read(Path.of("pictures", "two-faint.png"));
        try (FakeServer server = new FakeServer(SEVEN);
                DigitClient client = transport.open(server.httpUrl(), server.grpcUrl())) {
            client.probabilities(picture);
            client.probabilities(other);

            assertThat(server.received).hasSize(2);
            assertThat(server.received.get(1)).isEqualTo(other.pixels());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SHARED_MEMORY_HTTP", "SHARED_MEMORY_GRPC"})
    void shouldLeaveNoRegionAndNoObjectBehind(DigitTransport transport) throws IOException {
        try (FakeServer server = new FakeServer(SEVEN)) {
            Path object;
            try (DigitClient client = transport.open(server.httpUrl(), server.grpcUrl())) {
                client.probabilities(picture);
                assertThat(server.regions).hasSize(1);
                object = Path.of("/dev/shm" + server.regions.values().iterator().next());
                assertThat(object).exists();
            }
            assertThat(server.regions).isEmpty();
            assertThat(object).doesNotExist();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"SHARED_MEMORY_HTTP", "SHARED_MEMORY_GRPC"})
    void shouldRemoveTheObjectWhenTheServerWentAway(DigitTransport transport) throws IOException {
        Path object;
        try (FakeServer server = new FakeServer(SEVEN);
                DigitClient client = transport.open(server.httpUrl(), server.grpcUrl())) {
            client.probabilities(picture);
            object = Path.of("/dev/shm" + server.regions.values().iterator().next());
            server.stop();
        }
        assertThat(object).doesNotExist();
    }

    @Test
    void shouldKnowTheWordsOfTheCommandLine() {
        assertThat(DigitTransport.named("http")).containsExactly(DigitTransport.HTTP_JSON, DigitTransport.HTTP_BINARY);
        assertThat(DigitTransport.named("grpc")).containsExactly(DigitTransport.GRPC);
        assertThat(DigitTransport.named("SHM"))
                .containsExactly(DigitTransport.SHARED_MEMORY_HTTP, DigitTransport.SHARED_MEMORY_GRPC);
        assertThat(DigitTransport.named("cuda")).containsExactly(DigitTransport.CUDA_HTTP, DigitTransport.CUDA_GRPC);
        assertThat(DigitTransport.named("all"))
                .containsExactly(
                        DigitTransport.HTTP_JSON,
                        DigitTransport.HTTP_BINARY,
                        DigitTransport.GRPC,
                        DigitTransport.SHARED_MEMORY_HTTP,
                        DigitTransport.SHARED_MEMORY_GRPC);
    }

    @Test
    void shouldRefuseAnUnknownWord() {
        assertThatThrownBy(() -> DigitTransport.named("carrier-pigeon"))
                .isInstanceOf(DigitException.class)
                .hasMessage("Unknown transport 'carrier-pigeon': expected http, grpc, shm, cuda or all.");
    }

    @ParameterizedTest
    @EnumSource(names = {"CUDA_HTTP", "CUDA_GRPC"})
    void shouldSayThatThereIsNoGpu(DigitTransport transport) throws IOException {
        assumeThat(CudaDevices.find().count()).as("a machine without a GPU").isZero();
        try (FakeServer server = new FakeServer(SEVEN)) {
            assertThatThrownBy(() -> transport.open(server.httpUrl(), server.grpcUrl()))
                    .isInstanceOf(DigitException.class)
                    .hasMessageStartingWith("CUDA shared memory needs a GPU. CUDA not available: ");
            assertThat(server.regions).isEmpty();
        }
    }
}
