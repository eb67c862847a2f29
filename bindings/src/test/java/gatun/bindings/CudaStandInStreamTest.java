// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import static gatun.bindings.StandInDevice.require;
import static gatun.bindings.cuda.cuda_h.*;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.StandInDevice.Result;
import gatun.testing.CudaStandIn.Count;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Streams and events: what is asynchronous is so, and who waits for whom. */
@Timeout(60)
class CudaStandInStreamTest {
    private static final String NOT_READY = "CUDA_ERROR_NOT_READY";

    private StandInDevice device;
    private MemorySegment stream;
    private MemorySegment pinned;
    private long address;

    @BeforeEach
    void open() {
        device = StandInDevice.open(0);
        stream = device.stream(CU_STREAM_NON_BLOCKING());
        pinned = device.pinned(8);
        address = device.allocateInts(1, 2);
    }

    @AfterEach
    void close() {
        if (device != null) {
            device.standIn.reset();
            require(cuMemFree_v2(address));
            require(cuMemFreeHost(pinned));
            require(cuStreamDestroy_v2(stream));
            device.close();
        }
    }

    @Test
    void shouldCopyOnlyLater() {
        pinned.set(C_INT, 0, 0);
        device.standIn.hold();
        require(cuMemcpyDtoHAsync_v2(pinned, address, 8, stream));
        assertThat(pinned.get(C_INT, 0)).isZero();
        assertThat(Result.of(cuStreamQuery(stream))).isEqualTo(NOT_READY);
        device.standIn.release();
        require(cuStreamSynchronize(stream));
        assertThat(pinned.get(C_INT, 0)).isEqualTo(1);
        require(cuStreamQuery(stream));
    }

    @Test
    void shouldReadPinnedMemoryLaterButPageableMemoryAtOnce() {
        MemorySegment pageable = device.arena.allocate(8);
        device.standIn.hold();
        pinned.set(C_INT, 0, 10);
        pageable.set(C_INT, 0, 20);
        require(cuMemcpyHtoDAsync_v2(address, pinned, 4, stream));
        require(cuMemcpyHtoDAsync_v2(address + 4, pageable, 4, stream));
        pinned.set(C_INT, 0, 11);
        pageable.set(C_INT, 0, 21);
        device.standIn.delay(Duration.ZERO);
        device.standIn.release();
        require(cuStreamSynchronize(stream));
        assertThat(device.ints(address, 2)).containsExactly(11, 20);
    }

    @Test
    void shouldWriteToPageableMemoryBeforeTheCallReturns() {
        MemorySegment pageable = device.arena.allocate(8);
        device.standIn.delay(Duration.ofMillis(20));
        require(cuMemcpyDtoHAsync_v2(pageable, address, 8, stream));
        assertThat(pageable.get(C_INT, 4)).isEqualTo(2);
    }

    @Test
    void shouldKeepTheOrderOfAStreamButNotBetweenStreams() {
        MemorySegment other = device.stream(CU_STREAM_NON_BLOCKING());
        pinned.set(C_INT, 0, 7);
        device.standIn.hold();
        require(cuMemcpyHtoDAsync_v2(address, pinned, 4, stream));
        require(cuMemcpyDtoDAsync_v2(address + 4, address, 4, stream));
        device.standIn.delay(Duration.ZERO);
        require(cuStreamSynchronize(other));
        assertThat(Result.of(cuStreamQuery(stream))).isEqualTo(NOT_READY);
        device.standIn.release();
        require(cuStreamSynchronize(stream));
        assertThat(device.ints(address, 2)).containsExactly(7, 7);
        require(cuStreamDestroy_v2(other));
    }

    @Test
    void shouldWaitForAnEventOfAnotherStream() {
        MemorySegment other = device.stream(CU_STREAM_NON_BLOCKING());
        MemorySegment event = device.event(CU_EVENT_DISABLE_TIMING());
        require(cuEventQuery(event)); // never recorded
        pinned.set(C_INT, 0, 7);
        device.standIn.hold();
        require(cuMemcpyHtoDAsync_v2(address, pinned, 4, stream));
        require(cuEventRecord(event, stream));
        device.standIn.delay(Duration.ZERO);
        require(cuStreamWaitEvent(other, event, 0));
        require(cuMemcpyDtoDAsync_v2(address + 4, address, 4, other));
        assertThat(Result.of(cuEventQuery(event))).isEqualTo(NOT_READY);
        assertThat(Result.of(cuStreamQuery(other))).isEqualTo(NOT_READY);
        device.standIn.release();
        require(cuStreamSynchronize(other));
        require(cuEventQuery(event));
        require(cuEventSynchronize(event));
        assertThat(device.ints(address, 2)).containsExactly(7, 7);
        require(cuEventDestroy_v2(event));
        require(cuStreamDestroy_v2(other));
    }

    @Test
    void shouldLetTheNullStreamWaitForBlockingStreamsOnly() {
        MemorySegment blocking = device.stream(CU_STREAM_DEFAULT());
        pinned.set(C_INT, 0, 7);
        device.standIn.hold();
        require(cuMemcpyHtoDAsync_v2(address, pinned, 4, blocking));
        device.standIn.delay(Duration.ZERO);
        require(cuMemcpyDtoDAsync_v2(address + 4, address, 4, MemorySegment.NULL));
        require(cuMemsetD8Async(address, (byte) 0, 0, stream));
        require(cuStreamSynchronize(stream)); // it waits for neither
        assertThat(Result.of(cuStreamQuery(MemorySegment.NULL))).isEqualTo(NOT_READY);
        device.standIn.release();
        assertThat(device.ints(address, 2)).containsExactly(7, 7);
        require(cuStreamDestroy_v2(blocking));
    }

    @Test
    void shouldFinishTheWorkOfADestroyedStreamBeforeItsMemoryGoes() {
        MemorySegment gone = device.stream(CU_STREAM_NON_BLOCKING());
        long other = device.allocateInts(3);
        device.standIn.delay(Duration.ofMillis(50));
        require(cuMemcpyDtoHAsync_v2(pinned, other, 4, gone));
        require(cuStreamDestroy_v2(gone));
        assertThat(Result.of(cuStreamSynchronize(gone))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        require(cuMemFree_v2(other));
        assertThat(pinned.get(C_INT, 0)).isEqualTo(3);
    }

    @Test
    void shouldGiveMemoryBackInTheOrderOfTheStream() {
        MemorySegment out = device.arena.allocate(C_LONG);
        require(cuMemAllocAsync(out, 4, stream));
        long pooled = out.get(C_LONG, 0);
        require(cuMemsetD32Async(pooled, 9, 1, stream));
        require(cuMemcpyDtoHAsync_v2(pinned, pooled, 4, stream));
        require(cuMemFreeAsync(pooled, stream));
        assertThat(Result.of(cuMemFreeAsync(pooled, stream))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
        require(cuStreamSynchronize(stream));
        assertThat(pinned.get(C_INT, 0)).isEqualTo(9);
    }

    @Test
    void shouldMeasureTimeBetweenEvents() {
        MemorySegment start = device.event(0);
        MemorySegment end = device.event(0);
        MemorySegment out = device.arena.allocate(C_FLOAT);
        assertThat(Result.of(cuEventElapsedTime_v2(out, start, end))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        require(cuEventRecord(start, stream));
        device.standIn.delay(Duration.ofMillis(30));
        require(cuMemsetD8Async(address, (byte) 0, 8, stream));
        device.standIn.hold();
        require(cuEventRecord(end, stream));
        assertThat(Result.of(cuEventElapsedTime_v2(out, start, end))).isEqualTo(NOT_READY);
        device.standIn.release();
        require(cuEventSynchronize(end));
        require(cuEventElapsedTime_v2(out, start, end));
        assertThat(out.get(C_FLOAT, 0)).isGreaterThanOrEqualTo(30);
        require(cuEventDestroy_v2(start));
        require(cuEventDestroy_v2(end));
    }

    @Test
    void shouldNoticeHandlesThatAreGoneOrBelongElsewhere() {
        MemorySegment event = device.event(CU_EVENT_DISABLE_TIMING());
        try (StandInDevice other = StandInDevice.open(1)) {
            MemorySegment foreign = other.stream(CU_STREAM_NON_BLOCKING());
            assertThat(Result.of(cuEventRecord(event, foreign))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
            require(cuStreamDestroy_v2(foreign));
            assertThat(Result.of(cuStreamDestroy_v2(foreign))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        }
        require(cuCtxSetCurrent(device.context));
        require(cuEventDestroy_v2(event));
        assertThat(Result.of(cuEventDestroy_v2(event))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        assertThat(Result.of(cuEventRecord(event, stream))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        assertThat(Result.of(cuStreamDestroy_v2(MemorySegment.NULL))).isEqualTo("CUDA_ERROR_INVALID_HANDLE");
        MemorySegment out = device.arena.allocate(C_POINTER);
        assertThat(Result.of(cuStreamCreate(out, 2))).isEqualTo("CUDA_ERROR_INVALID_VALUE");
        assertThat(Result.of(cuEventCreate(out, CU_EVENT_INTERPROCESS())))
                .as("an event for several processes that takes the time")
                .isEqualTo("CUDA_ERROR_INVALID_VALUE");
        assertThat(device.standIn.count(Count.STREAMS)).isOne();
    }
}
