// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static gatun.bindings.StandInDevice.require;
import static gatun.bindings.cuda.cuda_h.*;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.StandInDevice.Result;
import gatun.testing.CudaStandIn.Count;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Device memory and events of another process. */
@Timeout(120)
class CudaStandInIpcTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int SHARED = 4 * Integer.BYTES;

    private StandInDevice device;

    /** The main class of the process that owns the memory: says its handles, and does what it is told. */
    static final class Owner {
        private Owner() {}

        public static void main(String[] arguments) throws Exception {
            StandInDevice device = StandInDevice.open(Integer.parseInt(arguments[0]));
            long address = device.allocateInts(1, 2, 3, 4);
            MemorySegment handle = device.arena.allocate(CU_IPC_HANDLE_SIZE());
            require(cuIpcGetMemHandle(handle, address + 4));
            System.out.println("memory " + HexFormat.of().formatHex(handle.toArray(ValueLayout.JAVA_BYTE)));
            MemorySegment event = device.event(CU_EVENT_INTERPROCESS() | CU_EVENT_DISABLE_TIMING());
            require(cuIpcGetEventHandle(handle, event));
            System.out.println("event " + HexFormat.of().formatHex(handle.toArray(ValueLayout.JAVA_BYTE)));
            var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                switch (line) {
                    case "tell" -> System.out.println("first " + device.ints(address, 1)[0]);
                    case "record" -> {
                        MemorySegment stream = device.stream(CU_STREAM_NON_BLOCKING());
                        device.standIn.delay(Duration.ofMillis(300));
                        require(cuMemsetD32Async(address, 77, 1, stream));
                        require(cuEventRecord(event, stream));
                        System.out.println("recorded");
                    }
                    default -> {
                        require(cuMemFree_v2(address));
                        System.out.println("freed");
                    }
                }
            }
        }
    }

    @BeforeEach
    void open() {
        device = StandInDevice.open(0);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.close();
        }
    }

    private MemorySegment bytes(String hex) {
        return device.arena.allocateFrom(ValueLayout.JAVA_BYTE, HexFormat.of().parseHex(hex));
    }

    private int open(MemorySegment out, MemorySegment handle) {
        return cuIpcOpenMemHandle_v2(out, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS());
    }

    @Test
    void shouldShareMemoryWithAnotherProcess() throws Exception {
        MemorySegment out = device.arena.allocate(C_LONG, 2);
        try (ChildJvm owner = ChildJvm.launch(Owner.class, "0")) {
            MemorySegment handle = bytes(owner.awaitLine("memory", LIMIT));
            require(open(out, handle));
            long address = out.get(C_LONG, 0);
            require(cuMemGetAddressRange_v2(out, out.asSlice(8), address));
            assertThat(out.get(C_LONG, 8)).as("all of the allocation").isEqualTo(SHARED);
            assertThat(device.ints(address, 4)).containsExactly(1, 2, 3, 4);
            require(cuMemsetD32Async(address, 5, 1, MemorySegment.NULL));
            require(cuCtxSynchronize());
            owner.send("tell");
            assertThat(owner.awaitLine("first", LIMIT)).isEqualTo("5");

            require(open(out, handle));
            assertThat(out.get(C_LONG, 0)).as("opened twice").isEqualTo(address);
            assertThat(device.standIn.count(Count.MAPPINGS)).isOne();
            require(cuIpcCloseMemHandle(address));
            assertThat(device.ints(address, 1)).containsExactly(5);
            assertThat(Result.of(cuMemFree_v2(address))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
            assertThat(Result.of(cuIpcGetMemHandle(handle, address)))
                    .as("passing on what belongs to somebody else")
                    .isEqualTo("CUDA_ERROR_INVALID_VALUE");
            require(cuIpcCloseMemHandle(address));
            assertThat(Result.of(cuIpcCloseMemHandle(address))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
        }
    }

    @Test
    void shouldRefuseHandlesThatAreNoneHere() throws Exception {
        long own = device.allocate(16);
        MemorySegment handle = device.arena.allocate(CU_IPC_HANDLE_SIZE());
        MemorySegment out = device.arena.allocate(C_LONG);
        assertThat(Result.of(open(out, handle))).as("zeros").isEqualTo("CUDA_ERROR_INVALID_VALUE");
        require(cuIpcGetMemHandle(handle, own));
        assertThat(Result.of(open(out, handle))).as("our own").isEqualTo("CUDA_ERROR_INVALID_CONTEXT");
        require(cuMemFree_v2(own));
        assertThat(Result.of(cuIpcGetMemHandle(handle, own))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
        MemorySegment freed;
        try (ChildJvm owner = ChildJvm.launch(Owner.class, "1")) {
            handle = bytes(owner.awaitLine("memory", LIMIT));
            assertThat(Result.of(open(out, handle)))
                    .as("memory of the other device")
                    .isEqualTo("CUDA_ERROR_PEER_ACCESS_UNSUPPORTED");
            assertThat(Result.of(cuIpcOpenMemHandle_v2(out, handle, 0))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
            owner.send("free");
            owner.awaitLine("freed", LIMIT);
            freed = handle;
            assertThat(Result.of(open(out, freed))).as("freed").isEqualTo("CUDA_ERROR_MAP_FAILED");
        }
        assertThat(Result.of(open(out, freed))).as("of a dead process").isEqualTo("CUDA_ERROR_MAP_FAILED");
    }

    @Test
    void shouldKeepWhatIsOpenWhenItsOwnerIsKilledAndLeaveNothingBehind() throws Exception {
        MemorySegment out = device.arena.allocate(C_LONG);
        long address;
        try (ChildJvm owner = ChildJvm.launch(Owner.class, "0")) {
            require(open(out, bytes(owner.awaitLine("memory", LIMIT))));
            address = out.get(C_LONG, 0);
        }
        assertThat(device.ints(address, 4)).containsExactly(1, 2, 3, 4);
        require(cuIpcCloseMemHandle(address));
        try (Stream<Path> objects = Files.list(Path.of("/dev/shm"))) {
            assertThat(objects.filter(object -> object.toString().contains("standin")))
                    .isEmpty();
        }
    }

    @Test
    void shouldWaitForAnEventOfAnotherProcess() throws Exception {
        MemorySegment out = device.arena.allocate(C_POINTER);
        try (ChildJvm owner = ChildJvm.launch(Owner.class, "0")) {
            require(open(out, bytes(owner.awaitLine("memory", LIMIT))));
            long address = out.get(C_LONG, 0);
            require(cuIpcOpenEventHandle(out, bytes(owner.awaitLine("event", LIMIT))));
            MemorySegment event = out.get(C_POINTER, 0);
            require(cuEventQuery(event));
            owner.send("record");
            owner.awaitLine("recorded", LIMIT);
            MemorySegment stream = device.stream(CU_STREAM_NON_BLOCKING());
            MemorySegment pinned = device.pinned(4);
            require(cuStreamWaitEvent(stream, event, 0));
            require(cuMemcpyDtoHAsync_v2(pinned, address, 4, stream));
            require(cuStreamSynchronize(stream));
            assertThat(pinned.get(C_INT, 0)).isEqualTo(77);
            require(cuEventSynchronize(event));
            require(cuMemFreeHost(pinned));
            require(cuStreamDestroy_v2(stream));
            require(cuEventDestroy_v2(event));
            require(cuIpcCloseMemHandle(address));
        }
    }
}
