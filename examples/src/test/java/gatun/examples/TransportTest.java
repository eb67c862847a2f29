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
class TransportTest {
    private static final float[] SEVEN = {0, 0, 0, 0, 0, 0, 0, 0.75f, 0.25f, 0};

    private final DigitPicture picture = DigitPicture.read(Path.of("pictures", "seven-serif.png"));

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"CUDA_HTTP", "CUDA_GRPC"})
    void shouldBringThePixelsThereAndTheAnswerBack(Transport transport) throws IOException {
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
    void shouldServeManyPicturesWithOneClient(Transport transport) throws IOException {
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
    void shouldLeaveNoRegionAndNoObjectBehind(Transport transport) throws IOException {
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
    void shouldRemoveTheObjectWhenTheServerWentAway(Transport transport) throws IOException {
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
        assertThat(Transport.named("http")).containsExactly(Transport.HTTP_JSON, Transport.HTTP_BINARY);
        assertThat(Transport.named("grpc")).containsExactly(Transport.GRPC);
        assertThat(Transport.named("SHM")).containsExactly(Transport.SHARED_MEMORY_HTTP, Transport.SHARED_MEMORY_GRPC);
        assertThat(Transport.named("cuda")).containsExactly(Transport.CUDA_HTTP, Transport.CUDA_GRPC);
        assertThat(Transport.named("all"))
                .containsExactly(
                        Transport.HTTP_JSON,
                        Transport.HTTP_BINARY,
                        Transport.GRPC,
                        Transport.SHARED_MEMORY_HTTP,
                        Transport.SHARED_MEMORY_GRPC);
    }

    @Test
    void shouldRefuseAnUnknownWord() {
        assertThatThrownBy(() -> Transport.named("carrier-pigeon"))
                .isInstanceOf(DigitException.class)
                .hasMessage("Unknown transport 'carrier-pigeon': expected http, grpc, shm, cuda or all.");
    }

    @ParameterizedTest
    @EnumSource(names = {"CUDA_HTTP", "CUDA_GRPC"})
    void shouldSayThatThereIsNoGpu(Transport transport) throws IOException {
        assumeThat(CudaDevices.find().count()).as("a machine without a GPU").isZero();
        try (FakeServer server = new FakeServer(SEVEN)) {
            assertThatThrownBy(() -> transport.open(server.httpUrl(), server.grpcUrl()))
                    .isInstanceOf(DigitException.class)
                    .hasMessageStartingWith("CUDA shared memory needs a GPU. CUDA not available: ");
            assertThat(server.regions).isEmpty();
        }
    }
}
