// SPDX-License-Identifier: Apache-2.0
package gatun.bindings.sockets;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import gatun.bindings.Machine;
import gatun.bindings.NativeCall;
import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/**
 * Waits for bytes on many sockets: Linux's {@code epoll}, on which many threads may wait at the same time, each of which
 * gets other sockets. A socket is found once when bytes come, and again only when more come, whether or not the first were
 * read. All methods are thread-safe and allocate nothing. The instance lasts as long as the process.
 */
public final class EventPoll {
    // Constants of <sys/epoll.h>, which are the same on every architecture.
    private static final int EPOLLIN = 0x1;
    private static final int EPOLLERR = 0x8;
    private static final int EPOLLHUP = 0x10;
    private static final int EPOLLRDHUP = 0x2000;
    private static final int EPOLLET = 1 << 31;
    private static final int EPOLL_CLOEXEC = 0x80000;
    private static final int EPOLL_CTL_ADD = 1;
    private static final int EPOLL_CTL_DEL = 2;

    // int epoll_create1(int flags)
    private static final MethodHandle CREATE = WordFunctions.find("epoll_create1", 1);
    // int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
    private static final MethodHandle CONTROL = WordFunctions.find("epoll_ctl", 4);
    // int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
    private static final MethodHandle WAIT = WordFunctions.find("epoll_wait", 4);

    private static final long DATA_OFFSET = Machine.current().epollDataOffset();
    private static final long EVENT_BYTES = DATA_OFFSET + Long.BYTES;

    private final MemorySegment descriptor;

    private EventPoll(int descriptor) {
        this.descriptor = MemorySegment.ofAddress(descriptor);
    }

    /** One without sockets; empty when the process may open no more files. */
    public static Optional<EventPoll> open() {
        try {
            MemorySegment created = (MemorySegment) CREATE.invokeExact(MemorySegment.ofAddress(EPOLL_CLOEXEC));
            int descriptor = (int) created.address();
            return descriptor < 0 ? Optional.empty() : Optional.of(new EventPoll(descriptor));
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** Also waits for {@code socket}, found at once if bytes are there. Returns false where the system refuses. */
    public boolean add(int socket) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment event = arena.allocate(EVENT_BYTES, Long.BYTES);
            event.set(JAVA_INT, 0, EPOLLIN | EPOLLRDHUP | EPOLLET);
            event.set(JAVA_INT, DATA_OFFSET, socket);
            return control(EPOLL_CTL_ADD, socket, event) == 0;
        }
    }

    /** Waits for {@code socket} no more; threads may have found it before. The caller has not closed it yet. */
    public void remove(int socket) {
        control(EPOLL_CTL_DEL, socket, MemorySegment.NULL);
    }

    private int control(int operation, int socket, MemorySegment event) {
        try {
            MemorySegment status = (MemorySegment) CONTROL.invokeExact(
                    descriptor, MemorySegment.ofAddress(operation), MemorySegment.ofAddress(socket), event);
            return (int) status.address();
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** What one thread has found; for that thread. */
    public static final class Found {
        private final MemorySegment events;
        private final int most;

        /** Room for {@code most} sockets at a time. */
        public Found(int most) {
            this.most = most;
            this.events = Arena.ofAuto().allocate(most * EVENT_BYTES, Long.BYTES);
        }

        /**
         * Waits {@code millis} at most, 0 for nothing, on a thread that should be a platform thread. Returns how many
         * sockets were found; 0 after that time, and perhaps before.
         */
        public int await(EventPoll poll, int millis) {
            try {
                MemorySegment count = (MemorySegment) WAIT.invokeExact(
                        poll.descriptor, events, MemorySegment.ofAddress(most), MemorySegment.ofAddress(millis));
                return Math.max((int) count.address(), 0); // it fails where a signal comes first
            } catch (Throwable t) {
                throw NativeCall.unexpected(t);
            }
        }

        /** The socket of number {@code index} of those found. */
        public int socket(int index) {
            return events.get(JAVA_INT, index * EVENT_BYTES + DATA_OFFSET);
        }

        /** Whether the peer sends no more on the socket of number {@code index}, or the connection has failed. */
        public boolean hasEnded(int index) {
            return (events.get(JAVA_INT, index * EVENT_BYTES) & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
        }
    }
}
