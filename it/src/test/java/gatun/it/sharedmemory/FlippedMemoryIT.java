// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ChildJvm;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.lane.RawLane;
import gatun.it.sharedmemory.FlippedTensor.Place;
import gatun.memory.lane.LaneGeometry;
import gatun.memory.regions.SharedMemoryObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A client that changes a tensor while an engine runs that reads it twice. It ended the server.process(), or read what lies
 * behind other clients' tensors, where the engine read the client's own memory. {@code -Dgatun.attacks=full} takes a
 * minute and more.
 */
@Timeout(300)
class FlippedMemoryIT {
    private static final boolean FULL = "full".equals(System.getProperty("gatun.attacks"));
    private static final long NANOS = Duration.ofMillis(FULL ? 2500 : 200).toNanos();
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int BYTES = 64 << 10;

    @TempDir
    static Path folder;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(FlippedMemoryIT::start);

    private static final HttpApi http = server.http();

    private static Path socket;

    private static ServerProcess start() throws Exception {
        socket = folder.resolve("http");
        Path models = Files.createDirectories(folder.resolve("models"));
        for (FlippedTensor tensor : FlippedTensor.all()) {
            tensor.write(models);
        }
        return ServerProcess.launch(models, "--allow-client-shm", "--http-unix-socket=" + socket);
    }

    /** Memory that the server and other processes share. */
    interface Memory extends AutoCloseable {
        MemorySegment bytes();

        /** Where others find it. */
        Path file();

        /** Where {@link #bytes} begins in the file. */
        default long fileOffset() {
            return 0;
        }

        /** Makes a request ready. */
        void prepare(FlippedTensor tensor) throws IOException;

        /** Asks once what was made ready; returns whether it was answered, and not refused. */
        boolean infer();

        @Override
        void close();
    }

    enum Kind {
        SEALED {
            @Override
            Memory open() {
                SharedMemoryObject object = SharedMemoryObject.sealed(BYTES);
                return new Region(object, Path.of(object.key()));
            }
        },
        POSIX {
            @Override
            Memory open() {
                String key = "/gatun-flipped-" + ProcessHandle.current().pid();
                return new Region(SharedMemoryObject.posix(key, BYTES), Path.of("/dev/shm" + key));
            }
        },
        LANE {
            @Override
            Memory open() throws IOException {
                return new LaneData(RawLane.open(socket, new LaneGeometry(4, 8, BYTES), ""));
            }
        };

        abstract Memory open() throws IOException;
    }

    /** A registered region. */
    private static final class Region implements Memory {
        private final SharedMemoryObject object;
        private final Path file;
        private String path = "";
        private String body = "";

        Region(SharedMemoryObject object, Path file) {
            this.object = object;
            this.file = file;
            HttpResponse<String> registered = http.register("flipped", object.key(), "0", "" + BYTES);
            assertThat(registered.statusCode()).as(registered.body()).isEqualTo(200);
        }

        @Override
        public void prepare(FlippedTensor tensor) {
            path = "/v2/models/" + tensor.name() + "/infer";
            body = "{\"inputs\":[" + tensors(tensor.inputs()) + "],\"outputs\":[" + tensors(tensor.outputs()) + "]}";
        }

        private static String tensors(List<Place> places) {
            return places.stream().map(Region::tensor).collect(Collectors.joining(","));
        }

        private static String tensor(Place place) {
            String spec = place.datatype().isEmpty()
                    ? ""
                    : "\"datatype\":\"" + place.datatype() + "\",\"shape\":" + place.shape() + ",";
            return "{\"name\":\"" + place.name() + "\"," + spec
                    + "\"parameters\":{\"shared_memory_region\":\"flipped\",\"shared_memory_offset\":" + place.offset()
                    + ",\"shared_memory_byte_size\":" + place.byteSize() + "}}";
        }

        @Override
        public MemorySegment bytes() {
            return object.segment();
        }

        @Override
        public Path file() {
            return file;
        }

        @Override
        public boolean infer() {
            HttpResponse<String> response = http.post(path, body);
            assertThat(response.statusCode()).as(response.body()).isIn(200, 400, 500);
            return response.statusCode() == 200;
        }

        @Override
        public void close() {
            assertThat(http.unregister("flipped").statusCode()).isEqualTo(200);
            object.close();
        }
    }

    /** The data of a lane. */
    private static final class LaneData implements Memory {
        private final RawLane lane;

        LaneData(RawLane lane) {
            this.lane = lane;
        }

        @Override
        public void prepare(FlippedTensor tensor) throws IOException {
            String inputs = tensor.inputs().stream()
                    .map(place -> "{\"name\":\"" + place.name() + "\",\"datatype\":\"" + place.datatype() + "\"}")
                    .collect(Collectors.joining(","));
            String outputs = tensor.outputs().stream()
                    .map(place -> "{\"name\":\"" + place.name() + "\"}")
                    .collect(Collectors.joining(","));
            String request = "{\"inputs\":[" + inputs + "],\"outputs\":[" + outputs + "]}";
            lane.request(0, lane.prepare(tensor.name(), request));
            int index = 0;
            for (Place place : tensor.inputs()) {
                long[] shape = place.shape().stream().mapToLong(Long::longValue).toArray();
                lane.tensor(0, index++, place.offset(), place.byteSize(), shape);
            }
            for (Place place : tensor.outputs()) {
                lane.tensor(0, index++, place.offset(), place.byteSize());
            }
        }

        @Override
        public MemorySegment bytes() {
            return lane.data();
        }

        @Override
        public Path file() {
            return lane.file();
        }

        @Override
        public long fileOffset() {
            return lane.dataOffset();
        }

        @Override
        public boolean infer() {
            lane.infer(0);
            lane.await(0);
            return lane.code(0) == 0;
        }

        @Override
        public void close() {
            try {
                lane.close();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerFromTheRequestAlone(Kind kind) throws Exception {
        try (Memory memory = kind.open();
                ChildJvm flipper =
                        ChildJvm.launch(MemoryFlipper.class, memory.file().toString())) {
            for (FlippedTensor tensor : FlippedTensor.all()) {
                memory.prepare(tensor);
                long offset = memory.fileOffset() + tensor.flippedOffset();
                HexFormat hexadecimal = HexFormat.of();
                flipper.send(offset + " " + hexadecimal.formatHex(tensor.first()) + " "
                        + hexadecimal.formatHex(tensor.second()));
                flipper.awaitLine("flipping", LIMIT);
                tensor.fill(memory.bytes());
                requireAnswers(memory, tensor);
            }
        }
        assertThat(http.get("/v2/health/ready").statusCode()).isEqualTo(200);
        assertThat(http.metric("gatun_buffer_pool_used_bytes")).isZero();
    }

    /** Asks for as long as the test may take, and until there was an answer. */
    private static void requireAnswers(Memory memory, FlippedTensor tensor) {
        long begin = System.nanoTime();
        for (int answered = 0; answered == 0 || System.nanoTime() - begin < NANOS; ) {
            tensor.clear(memory.bytes());
            if (memory.infer()) {
                tensor.check(memory.bytes());
                answered++;
            }
        }
    }
}
