// SPDX-License-Identifier: Apache-2.0
package gatun.memory.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.testing.CudaLeakCheck;
import gatun.testing.CudaStandIn;
import gatun.testing.CudaStandIn.Count;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class DeviceTransfersTest {
    private static final int COUNT = 5000;

    @RegisterExtension
    final CudaLeakCheck leaks = new CudaLeakCheck();

    private final Arena arena = Arena.ofConfined();
    private CudaDevice device;
    private DeviceTransfers transfers;

    @BeforeEach
    void open() {
        device = CudaFixture.device(0);
        transfers = new DeviceTransfers(device);
    }

    @AfterEach
    void close() {
        if (transfers != null) {
            transfers.release();
        }
        arena.close();
    }

    private static TensorSpec spec(int count) {
        return new TensorSpec("x", Datatype.UINT8, Shape.of(count));
    }

    @Test
    void shouldBringATensorThereAndAResultBack() {
        MemorySegment source = CudaFixture.bytes(arena, COUNT, 1);
        MemorySegment target = arena.allocate(COUNT);
        CudaStandIn.loaded().ifPresent(standIn -> standIn.delay(Duration.ofMillis(2)));

        try (DeviceTransfers run = transfers.begin()) {
            DeviceMemory x = run.bring(new Tensor(spec(COUNT), source));
            DeviceMemory y = run.deliver(target);
            assertThat(run.isOn(Optional.of(x))).isTrue();
            run.stream().copy(x, y); // stands for a kernel
            run.awaitKernels();
            run.complete();
            assertThat(target.mismatch(source)).isEqualTo(-1);
        }
        assertThat(device.pool().lentBytes()).isZero();
    }

    @Test
    void shouldUseATensorWhereItLies() {
        CudaStandIn standIn = CudaFixture.standIn();
        try (CudaAllocation allocation = CudaAllocation.of(device, COUNT)) {
            long copies = standIn.count(Count.COPIES);
            try (DeviceTransfers run = transfers.begin()) {
                Tensor tensor = Tensor.inRegion(spec(COUNT), CudaFixture.window(allocation.memory()));
                assertThat(run.bring(tensor)).isEqualTo(allocation.memory());
                run.awaitKernels();
                run.complete();
            }
            assertThat(standIn.count(Count.COPIES)).isEqualTo(copies);
        }
    }

    @Test
    void shouldCopyATensorThatLiesOnTheGpuWhereThatIsWanted() {
        try (CudaAllocation allocation = CudaAllocation.of(device, COUNT)) {
            MemorySegment source = CudaFixture.bytes(arena, COUNT, 7);
            allocation.write(0, source);
            Tensor tensor = Tensor.inRegion(spec(COUNT), CudaFixture.window(allocation.memory()));
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory copy = run.copy(tensor);
                run.awaitKernels();
                allocation.write(0, arena.allocate(COUNT));
                assertThat(copy.address()).isNotEqualTo(allocation.memory().address());
                assertThat(CudaFixture.read(device, copy)).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
                run.complete();
            }
        }
        assertThat(device.pool().lentBytes()).isZero();
    }

    /** Nothing is written to the window before the kernels are done. */
    @Test
    void shouldWriteToAWindowWhenTheRunIsComplete() {
        try (CudaAllocation allocation = CudaAllocation.of(device, COUNT)) {
            MemorySegment source = CudaFixture.bytes(arena, COUNT, 7);
            allocation.write(0, arena.allocate(COUNT));
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory made = run.aside(allocation.memory());
                run.stream().copy(run.bring(new Tensor(spec(COUNT), source)), made); // stands for a kernel
                assertThat(CudaFixture.read(device, allocation.memory())).containsOnly(0);
                run.awaitKernels();
                run.complete();
            }
            assertThat(CudaFixture.read(device, allocation.memory())).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void shouldDeliverToOtherMemoryOfTheGpu() {
        try (CudaAllocation allocation = CudaAllocation.of(device, 2 * COUNT)) {
            MemorySegment source = CudaFixture.bytes(arena, COUNT, 7);
            allocation.write(0, arena.allocate(2 * COUNT));
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory made = run.bring(new Tensor(spec(COUNT), source));
                run.deliver(made, allocation.memory().slice(COUNT, COUNT));
                run.awaitKernels();
                run.complete();
            }
            assertThat(CudaFixture.read(device, allocation.memory().slice(COUNT, COUNT)))
                    .isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
            assertThat(CudaFixture.read(device, allocation.memory().slice(0, COUNT)))
                    .containsOnly(0);
        }
    }

    @Test
    void shouldBringWhatLiesOnAnotherGpu() {
        CudaDevice other = CudaFixture.device(1);
        device.makeCurrent();
        try (CudaAllocation there = CudaAllocation.of(other, COUNT)) {
            MemorySegment source = CudaFixture.bytes(arena, COUNT, 3);
            there.write(0, source);
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory here = run.bring(Tensor.inRegion(spec(COUNT), CudaFixture.window(there.memory())));
                assertThat(here.device()).isZero();
                run.awaitKernels();
                assertThat(CudaFixture.read(device, here)).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
            }
        }
    }

    @Test
    void shouldCopyNothingOfATensorWithoutElements() {
        try (DeviceTransfers run = transfers.begin()) {
            assertThat(run.bring(new Tensor(spec(0), arena.allocate(0))).byteSize())
                    .isZero();
            run.deliver(arena.allocate(0));
            run.awaitKernels();
            run.complete();
        }
        assertThat(device.failure()).isEmpty();
    }

    @Test
    void shouldWaitForWhatIsUnderWayWhenARunIsBrokenOff() {
        CudaStandIn standIn = CudaFixture.standIn();
        MemorySegment source = CudaFixture.bytes(arena, COUNT, 9);
        long copies = standIn.count(Count.COPIES);
        standIn.delay(Duration.ofMillis(5));
        assertThatThrownBy(() -> {
                    try (DeviceTransfers run = transfers.begin()) {
                        run.bring(new Tensor(spec(COUNT), source));
                        throw new IllegalStateException("the backend gave up");
                    }
                })
                .hasMessage("the backend gave up");
        assertThat(standIn.count(Count.COPIES)).isEqualTo(copies + 1);
        assertThat(device.pool().lentBytes()).isZero();
    }

    @Test
    void shouldGiveEverythingBackWhenMemoryIsShort() {
        device.pool().limit(1 << 20);
        try (DeviceTransfers run = transfers.begin()) {
            run.take(1 << 20);
            assertThatThrownBy(() -> run.take(512)).hasMessageContaining("has no 512 bytes left");
        } finally {
            device.pool().limit(device.totalBytes());
        }
        assertThat(device.pool().lentBytes()).isZero();
    }

    @Test
    void shouldShowNothingOfAnotherRequestWhereItClears() {
        MemorySegment secret = CudaFixture.bytes(arena, COUNT, 5);
        try (DeviceTransfers run = transfers.begin()) {
            run.bring(new Tensor(spec(COUNT), secret));
            run.awaitKernels();
        }
        DeviceTransfers clearing = DeviceTransfers.clearing(device);
        try {
            MemorySegment target = CudaFixture.bytes(arena, COUNT, 6);
            try (DeviceTransfers run = clearing.begin()) {
                run.deliver(target); // and no kernel writes it
                run.awaitKernels();
                run.complete();
            }
            assertThat(target.toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
        } finally {
            clearing.release();
        }
    }

    @Test
    void shouldGiveKernelsAlignedMemoryWhateverOffsetAClientChose() {
        try (CudaAllocation allocation = CudaAllocation.of(device, 2 * COUNT)) {
            MemorySegment source = CudaFixture.bytes(arena, COUNT, 8);
            DeviceMemory odd = allocation.memory().slice(1, COUNT);
            allocation.write(1, source);
            DeviceMemory target = allocation.memory().slice(COUNT - 1, COUNT);
            assertThat(DeviceTransfers.isAligned(target)).isFalse();
            try (DeviceTransfers run = transfers.begin()) {
                DeviceMemory x = run.bring(Tensor.inRegion(spec(COUNT), CudaFixture.window(odd)));
                DeviceMemory y = run.target(target);
                assertThat(DeviceTransfers.isAligned(x)).isTrue();
                assertThat(DeviceTransfers.isAligned(y)).isTrue();
                assertThat(run.target(allocation.memory())).isEqualTo(allocation.memory());
                run.stream().copy(x, y); // stands for a kernel
                run.awaitKernels();
                run.complete();
            }
            assertThat(CudaFixture.read(device, target)).isEqualTo(source.toArray(ValueLayout.JAVA_BYTE));
        }
    }

    @Test
    void shouldRefuseTwoRunsAtATime() {
        try (DeviceTransfers run = transfers.begin()) {
            assertThat(run).isSameAs(transfers);
            assertThatThrownBy(transfers::begin).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldLockNoMoreThanItIsAllowed() {
        CudaStandIn standIn = CudaFixture.standIn();
        long before = standIn.count(Count.HOST);
        try (BufferPool pool = new BufferPool(4 << 20)) {
            pool.limitLocked(0);
            pool.lockFor(device);
            assertThat(standIn.count(Count.HOST)).isEqualTo(before);
            assertThat(pool.lockLimit()).isZero();
            pool.limitLocked(1 << 20);
            try (Buffer early = pool.take(1 << 10)) {
                assertThat(pool.lockedUsedBytes()).as("nothing is locked yet").isZero();
                pool.lockFor(device);
                assertThat(standIn.count(Count.HOST)).isEqualTo(before + 1);
                assertThat(pool.lockedUsedBytes()).isEqualTo(early.byteSize());
            }
            long pageable = standIn.count(Count.PAGEABLE);
            try (Buffer locked = pool.take(1 << 19);
                    Buffer beyond = pool.take(2 << 20);
                    DeviceTransfers run = transfers.begin()) {
                run.bring(new Tensor(spec(1 << 19), locked.segment()));
                run.awaitKernels();
                assertThat(standIn.count(Count.PAGEABLE)).isEqualTo(pageable);
                run.bring(new Tensor(spec(2 << 20), beyond.segment()));
                run.awaitKernels();
                assertThat(standIn.count(Count.PAGEABLE)).isEqualTo(pageable + 1);
            }
        }
    }

    @Test
    void shouldLetTheGpuCopyFromLockedBuffersByItself() {
        CudaStandIn standIn = CudaFixture.standIn();
        try (BufferPool pool = new BufferPool(4 << 20)) {
            pool.lockFor(device);
            try (Buffer buffer = pool.take(1 << 20);
                    DeviceTransfers run = transfers.begin()) {
                long pageable = standIn.count(Count.PAGEABLE);
                run.bring(new Tensor(spec(1 << 20), buffer.segment()));
                run.awaitKernels();
                assertThat(standIn.count(Count.PAGEABLE)).isEqualTo(pageable);

                run.bring(new Tensor(spec(COUNT), CudaFixture.bytes(arena, COUNT, 2)));
                run.awaitKernels();
                assertThat(standIn.count(Count.PAGEABLE)).isEqualTo(pageable + 1);
            }
        }
    }
}
