// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.regions.Mappings;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class IncomingBufferTest {
    private static final long KIB = 1 << 10;
    private static final long MIB = 1 << 20;
    private static final long LIMIT = 64 * MIB;
    private static final long RESERVE = 4 * MIB;

    private final AtomicLong clock = new AtomicLong(1);
    private final AtomicInteger evictions = new AtomicInteger();
    private final BufferPool pool = new BufferPool(LIMIT, RESERVE, clock::get);

    @AfterEach
    void closePool() {
        assertThat(pool.usedBytes()).as("left in the pool").isZero();
        pool.close();
    }

    private IncomingBuffer receive(long byteSize) {
        return receive(byteSize, new ClientQuotaKey(new Object()));
    }

    private IncomingBuffer receive(long byteSize, ClientQuotaKey sender) {
        return pool.receive(byteSize, 64 * KIB, sender, why -> evictions.incrementAndGet());
    }

    /** Lets bytes come up to {@code end}, as fast as can be. */
    private static void send(IncomingBuffer buffer, long from, long end) {
        for (long at = from; at < end; ) {
            long next = Math.min(end, buffer.room(at));
            buffer.segment().set(ValueLayout.JAVA_BYTE, next - 1, (byte) next);
            buffer.received(next - at);
            at = next;
        }
    }

    private void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    private static void assertRefused(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String text) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(call)
                .withMessageContaining(text)
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE));
    }

    @Test
    void shouldChargeWhatComesAndNotWhatIsAnnounced() {
        List<IncomingBuffer> announced = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            announced.add(receive(32 * MIB));
        }
        assertThat(pool.usedBytes()).isEqualTo(20 * 64 * KIB);
        IncomingBuffer first = announced.getFirst();
        send(first, 0, 10 * MIB);
        assertThat(pool.usedBytes() - 19 * 64 * KIB).isBetween(10 * MIB, 11 * MIB);
        announced.forEach(IncomingBuffer::close);
        assertThat(evictions).hasValue(0);
    }

    @Test
    void shouldKeepAddressSpaceForOthersWhateverIsAnnounced() {
        List<IncomingBuffer> announced = new ArrayList<>();
        GatunException refusal = null;
        while (refusal == null && announced.size() < 100_000) {
            // All are late, so that none is kept out for what the others may still send.
            pass(Duration.ofSeconds(1));
            try {
                announced.add(pool.receive(
                        LIMIT - RESERVE, 256, new ClientQuotaKey(new Object()), why -> evictions.incrementAndGet()));
            } catch (GatunException e) {
                refusal = e;
            }
        }
        assertThat(refusal).isNotNull();
        assertThat(Objects.requireNonNull(refusal).code()).isEqualTo(ErrorCode.UNAVAILABLE);
        for (int i = 0; i < 1000; i++) {
            pool.take(290).close();
        }
        pool.take(8 * MIB).close();
        announced.forEach(IncomingBuffer::close);
        receive(LIMIT - RESERVE).close();
    }

    @Test
    void shouldHandOverWhatHasComeInOnePiece() {
        IncomingBuffer incoming = receive(3 * MIB + 1);
        long address = incoming.segment().address();
        send(incoming, 0, 3 * MIB + 1);
        Buffer whole = incoming.complete();
        incoming.close();
        assertThat(whole.address()).isEqualTo(address);
        assertThat(whole.byteSize()).isEqualTo(3 * MIB + 1);
        assertThat(pool.usedBytes()).isEqualTo(3 * MIB + 256);
        whole.close();
    }

    @Test
    void shouldGrowWhereTheSizeIsNotKnownAndShrinkToWhatHasCome() {
        IncomingBuffer incoming = receive(64 * KIB);
        send(incoming, 0, 64 * KIB);
        incoming.grow(64 * KIB, 100 * KIB);
        assertThat(incoming.byteSize()).isEqualTo(128 * KIB);
        send(incoming, 64 * KIB, 70 * KIB);
        Buffer whole = incoming.complete(70 * KIB);
        assertThat(whole.byteSize()).isEqualTo(70 * KIB);
        assertThat(whole.segment().get(ValueLayout.JAVA_BYTE, 64 * KIB - 1)).isEqualTo((byte) (64 * KIB));
        assertThat(pool.usedBytes()).isEqualTo(70 * KIB);
        whole.close();
    }

    @Test
    void shouldKeepAReserveForSmallBuffers() {
        Buffer all = pool.take(LIMIT - RESERVE);
        assertRefused(() -> pool.take(64 * KIB + 1), "the buffer pool has no 65537 bytes left of its 67108864");
        List<Buffer> small = new ArrayList<>();
        for (int i = 0; i < RESERVE / (64 * KIB); i++) {
            small.add(pool.take(64 * KIB));
        }
        assertRefused(() -> pool.take(1), "the buffer pool has no 1 bytes left");
        small.forEach(Buffer::close);
        all.close();
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> pool.take(LIMIT - RESERVE + 1))
                .withMessageContaining("is more than the pool's limit of 62914560 bytes")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
    }

    @Test
    void shouldTakeFromTheLatestSenderFirst() {
        IncomingBuffer stopped = receive(32 * MIB);
        send(stopped, 0, 30 * MIB);
        pass(Duration.ofSeconds(1));
        IncomingBuffer later = receive(32 * MIB);
        send(later, 0, 20 * MIB);
        pass(Duration.ofSeconds(1));
        Buffer needed = pool.take(20 * MIB);
        assertThat(evictions).hasValue(1);
        assertRefused(stopped::requireHeld, "was sent too slowly while memory was short");
        assertRefused(() -> stopped.room(30 * MIB), "was sent too slowly while memory was short");
        assertRefused(stopped::complete, "was sent too slowly while memory was short");
        assertThatCode(later::requireHeld).doesNotThrowAnyException();
        stopped.close();
        later.close();
        needed.close();
    }

    @Test
    void shouldTakeFromNobodyWhoSendsInTime() {
        IncomingBuffer good = receive(50 * MIB);
        send(good, 0, 45 * MIB);
        pass(Duration.ofMillis(200));
        // It holds more than half, but as one request, which would only have to be sent again.
        assertRefused(() -> pool.take(63 * MIB - RESERVE), "the buffer pool has no");
        assertThatCode(good::requireHeld).doesNotThrowAnyException();
        send(good, 45 * MIB, 50 * MIB);
        good.complete().close();
        good.close();
        assertThat(evictions).hasValue(0);
    }

    @Test
    void shouldTakeNothingWhenItWouldNotHelp() {
        Buffer most = pool.take(50 * MIB);
        IncomingBuffer slow = receive(8 * MIB);
        pass(Duration.ofSeconds(5));
        assertRefused(() -> pool.take(20 * MIB), "the buffer pool has no");
        assertThatCode(slow::requireHeld).doesNotThrowAnyException();
        slow.close();
        most.close();
    }

    @Test
    void shouldTakeFromTheSenderThatHasMoreThanHalf() {
        ClientQuotaKey greedy = new ClientQuotaKey("one address");
        List<IncomingBuffer> many = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            IncomingBuffer one = receive(5 * MIB, greedy);
            send(one, 0, 5 * MIB);
            many.add(one);
        }
        IncomingBuffer modest = receive(10 * MIB);
        send(modest, 0, 5 * MIB);
        Buffer needed = pool.take(8 * MIB);
        assertThat(evictions.get()).isPositive();
        assertThatCode(modest::requireHeld).doesNotThrowAnyException();
        // Its own demand is refused rather than met from its other requests.
        int before = evictions.get();
        assertRefused(() -> receive(32 * MIB, greedy), "the buffer pool has no");
        assertThat(evictions).hasValue(before);
        many.forEach(IncomingBuffer::close);
        modest.close();
        needed.close();
    }

    @Test
    void shouldRefuseAtOnceWhatCouldNotComeWhole() {
        IncomingBuffer first = receive(40 * MIB);
        send(first, 0, 20 * MIB);
        assertRefused(() -> receive(30 * MIB), "the buffer pool has no 31457280 bytes left");
        pass(Duration.ofSeconds(1));
        // Now the first is late: it does not keep others from beginning.
        IncomingBuffer second = receive(30 * MIB);
        second.close();
        first.close();
    }

    @Test
    void shouldNotCountTheTimeOfASenderThatMayNotSend() {
        IncomingBuffer paused = receive(32 * MIB);
        send(paused, 0, 30 * MIB);
        paused.pause();
        pass(Duration.ofMinutes(10));
        paused.endWhenStalled(Duration.ofMinutes(5).toNanos());
        pool.endStalled();
        assertRefused(() -> pool.take(40 * MIB), "the buffer pool has no");
        paused.resume();
        paused.resume();
        assertThatCode(paused::requireHeld).doesNotThrowAnyException();
        pass(Duration.ofSeconds(1));
        pool.take(40 * MIB).close();
        assertRefused(paused::requireHeld, "was sent too slowly");
        paused.close();
    }

    @Test
    void shouldEndThoseThatHaveStopped() {
        IncomingBuffer stopped = receive(MIB);
        IncomingBuffer dripping = receive(MIB);
        for (int i = 0; i < 400; i++) {
            pass(Duration.ofSeconds(1));
            dripping.received(300);
        }
        pool.endStalled();
        assertThat(evictions).as("where nobody says that it may end").hasValue(0);
        stopped.endWhenStalled(Duration.ofSeconds(399).toNanos());
        dripping.endWhenStalled(Duration.ofSeconds(399).toNanos());
        pool.endStalled();
        assertThat(evictions).hasValue(1);
        assertRefused(stopped::requireHeld, "was not sent on for 399 seconds");
        assertThatCode(dripping::requireHeld).doesNotThrowAnyException();
        stopped.close();
        dripping.close();
    }

    @Test
    void shouldGiveThePagesBackWhileTheReceiverStillWaits() {
        IncomingBuffer stopped = receive(32 * MIB);
        send(stopped, 0, 32 * MIB - 1);
        MemorySegment memory = stopped.segment();
        pass(Duration.ofSeconds(1));
        pool.take(50 * MIB).close();
        assertThat(memory.get(ValueLayout.JAVA_BYTE, MIB - 1)).isZero();
        // Bytes that its thread still writes reach nobody else.
        memory.fill((byte) 1);
        stopped.close();
    }

    @Test
    void shouldStayMappedUntilTheEvictedAreClosed() {
        BufferPool own = new BufferPool(LIMIT, RESERVE, clock::get);
        IncomingBuffer evicted =
                own.receive(32 * MIB, 64 * KIB, new ClientQuotaKey("x"), why -> evictions.incrementAndGet());
        pass(Duration.ofMinutes(1));
        evicted.endWhenStalled(1);
        own.endStalled();
        long address = evicted.segment().address();
        own.close();
        assertThat(Mappings.covers(address)).isTrue();
        evicted.close();
        assertThat(Mappings.covers(address)).isFalse();
    }

    @Test
    void shouldTellSendersApart() throws Exception {
        InetAddress remote = InetAddress.getByAddress(new byte[] {10, 0, 0, 1});
        assertThat(ClientQuotaKey.at(new InetSocketAddress(remote, 1)))
                .isEqualTo(ClientQuotaKey.at(new InetSocketAddress(remote, 2)));
        InetSocketAddress loopback = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        assertThat(ClientQuotaKey.at(loopback)).isNotEqualTo(ClientQuotaKey.at(loopback));
        assertThat(ClientQuotaKey.at(UnixDomainSocketAddress.of("x")))
                .isNotEqualTo(ClientQuotaKey.at(UnixDomainSocketAddress.of("x")));
    }

    @Test
    void shouldKeepThePagesOfIdleBuffersWithinTwiceTheLimit() {
        // Many claims at a time, each of which has had all its bytes.
        List<IncomingBuffer> claims = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            claims.add(receive(16 * MIB));
        }
        for (IncomingBuffer claim : claims) {
            send(claim, 0, 16 * MIB);
            claim.segment().fill((byte) 1);
            claim.complete().close();
            claim.close();
        }
        long warm = 0;
        List<Buffer> all = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Buffer buffer = pool.takeBlock(16 * MIB);
            warm += buffer.segment().get(ValueLayout.JAVA_BYTE, MIB) == 0 ? 0 : 16 * MIB;
            all.add(buffer);
        }
        assertThat(warm).isLessThanOrEqualTo(2 * LIMIT);
        all.forEach(Buffer::closeUncharged);
    }

    @Test
    void shouldEitherBeCompletedOrTakenAway() throws Exception {
        int count = 20_000;
        Thread evictor = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                pool.endStalled();
            }
        });
        int completed = 0;
        for (int i = 0; i < count; i++) {
            try (IncomingBuffer incoming = receive(100 * KIB)) {
                incoming.room(64 * KIB);
                incoming.endWhenStalled(-1);
                Buffer whole = incoming.complete(70 * KIB);
                whole.segment().set(ValueLayout.JAVA_INT, 0, i);
                assertThat(whole.segment().get(ValueLayout.JAVA_INT, 0)).isEqualTo(i);
                whole.close();
                completed++;
            } catch (GatunException e) {
                assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE);
            }
        }
        evictor.interrupt();
        evictor.join();
        assertThat(completed + evictions.get()).as("each once at most").isLessThanOrEqualTo(count);
        assertThat(completed).isPositive();
    }

    /** The upload of a client of the simulation. */
    private static final class Upload {
        final IncomingBuffer buffer;
        final long bytesPerTick;
        long sent;

        Upload(IncomingBuffer buffer, long bytesPerTick) {
            this.buffer = buffer;
            this.bytesPerTick = bytesPerTick;
        }
    }

    /**
     * Many slow clients that announce much, and good ones beside them, by a clock of our own: all small requests and
     * nearly all large ones of the good are served.
     */
    @Test
    void shouldServeGoodClientsBesideManySlowOnes() {
        for (long seed = 0; seed < 5; seed++) {
            simulate(new Random(seed));
        }
    }

    private void simulate(Random random) {
        List<Upload> slow = new ArrayList<>();
        int served = 0;
        int refused = 0;
        Upload good = null;
        for (int tick = 0; tick < 20_000; tick++) {
            pass(Duration.ofMillis(10));
            if (slow.size() < 200) {
                try {
                    slow.add(new Upload(receive(1 + random.nextLong(16 * MIB)), random.nextInt(20)));
                } catch (GatunException e) {
                    // As many others do it, too.
                }
            }
            int one = random.nextInt(Math.max(1, slow.size()));
            if (one < slow.size()) {
                // A burst, and then next to nothing.
                long burst = random.nextInt(40) == 0 ? random.nextLong(8 * MIB) : slow.get(one).bytesPerTick;
                if (!goesOn(slow.get(one), burst)) {
                    slow.remove(one).buffer.close();
                }
            }
            pool.take(1 + random.nextInt((int) (64 * KIB))).close();
            try {
                if (good == null) {
                    good = new Upload(receive(1 + random.nextLong(8 * MIB)), 256 * KIB);
                }
                if (good.sent + good.bytesPerTick >= good.buffer.byteSize()) {
                    send(good.buffer, good.sent, good.buffer.byteSize());
                    good.buffer.complete().close();
                    good = null;
                    served++;
                } else if (!goesOn(good, good.bytesPerTick)) {
                    good.buffer.close();
                    good = null;
                    refused++;
                }
            } catch (GatunException e) {
                refused++;
            }
        }
        slow.forEach(upload -> upload.buffer.close());
        if (good != null) {
            good.buffer.close();
        }
        assertThat(pool.usedBytes()).isZero();
        assertThat(served)
                .as("large requests served, beside %d refused", refused)
                .isGreaterThan(1000);
        assertThat(refused).as("refused beside %d", served).isLessThan(served / 20);
    }

    private static boolean goesOn(Upload upload, long bytes) {
        try {
            long end = Math.min(upload.buffer.byteSize() - 1, upload.sent + bytes);
            upload.buffer.requireHeld();
            send(upload.buffer, upload.sent, end);
            upload.sent = Math.max(upload.sent, end);
            return true;
        } catch (GatunException e) {
            return false;
        }
    }
}
