// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.listener.OpenConnections.WireProtocol;
import io.helidon.webserver.CloseConnectionException;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The faults of a client that end its connection early. */
public enum ClientError {
    /** The TLS handshake failed, or a record was not TLS. */
    TLS("tls", true),
    /** It sent something that is not the protocol. */
    MALFORMED("malformed", true),
    /** It sent too much of what costs a client nothing. */
    FLOOD("flood", true),
    /** It kept the server waiting for too long. */
    TIMEOUT("timeout", false),
    /** It left in the middle of a request or a response. */
    DISCONNECTED("disconnected", false);

    private final String label;
    private final boolean told;

    ClientError(String label, boolean told) {
        this.label = label;
        this.told = told;
    }

    /** Its name in metrics. */
    public String label() {
        return label;
    }

    /** Whether it is logged: leaving and being slow are too common for that. */
    boolean isTold() {
        return told;
    }

    /** Ends a connection because of its client, who has heard of it where that was possible. */
    public static final class ClientErrorException extends CloseConnectionException {
        private static final long serialVersionUID = 1;

        private final ClientError error;

        /** With a text for the log. */
        public ClientErrorException(ClientError error, String message) {
            super(message);
            this.error = error;
        }

        /** With a text for the log, and the failure that showed it. */
        public ClientErrorException(ClientError error, String message, Throwable cause) {
            super(message, cause);
            this.error = error;
        }

        ClientError error() {
            return error;
        }
    }

    /** Counts connections that ended by their clients' fault, and logs one line a second. Thread-safe. */
    public static final class ClientErrors {
        private static final Logger LOG = LoggerFactory.getLogger(ClientErrors.class);

        private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

        /** The most characters of a text that quotes the client. */
        private static final int MOST_CHARACTERS = 200;

        /** The maps never change; their counters do. */
        private final Map<WireProtocol, Map<ClientError, LongAdder>> counters = new EnumMap<>(WireProtocol.class);

        private final LogPace pace = new LogPace();

        ClientErrors() {
            for (WireProtocol protocol : WireProtocol.values()) {
                Map<ClientError, LongAdder> ofProtocol = new EnumMap<>(ClientError.class);
                for (ClientError error : ClientError.values()) {
                    ofProtocol.put(error, new LongAdder());
                }
                counters.put(protocol, ofProtocol);
            }
        }

        /** Counts an error; {@code what} describes it in the log. */
        void add(WireProtocol protocol, ClientError error, String what) {
            counter(protocol, error).increment();
            if (error.isTold()) {
                pace.take().ifPresent(untold -> tell(protocol, what, untold));
            }
        }

        private static void tell(WireProtocol protocol, String what, long untold) {
            String begin = what.length() <= MOST_CHARACTERS ? what : what.substring(0, MOST_CHARACTERS) + "...";
            // The text may quote the client, which must not write log lines of its own.
            String text = CONTROL.matcher(begin).replaceAll("?");
            if (untold == 0) {
                LOG.info("A client's connection over {} ended: {}", protocol.label(), text);
            } else {
                LOG.info(
                        "A client's connection over {} ended: {} (and {} more since the last line)",
                        protocol.label(),
                        text,
                        untold);
            }
        }

        /** How many connections of {@code protocol} ended because of {@code error} so far. */
        public long count(WireProtocol protocol, ClientError error) {
            return counter(protocol, error).sum();
        }

        private LongAdder counter(WireProtocol protocol, ClientError error) {
            return Objects.requireNonNull(
                    Objects.requireNonNull(counters.get(protocol)).get(error));
        }

        /** Lets one line a second into the log about events that clients can cause at will. Thread-safe. */
        static final class LogPace {
            private static final Duration PERIOD = Duration.ofSeconds(1);

            private final AtomicLong lastNanos = new AtomicLong(System.nanoTime() - PERIOD.toNanos());
            private final AtomicLong untold = new AtomicLong();

            /** Present when a line may be written now: the number of lines that were left out since the last. */
            OptionalLong take() {
                long now = System.nanoTime();
                long last = lastNanos.get();
                if (now - last >= PERIOD.toNanos() && lastNanos.compareAndSet(last, now)) {
                    return OptionalLong.of(untold.getAndSet(0));
                }
                untold.incrementAndGet();
                return OptionalLong.empty();
            }
        }
    }
}
