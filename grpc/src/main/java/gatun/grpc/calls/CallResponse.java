// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.grpc.calls.CallAdmission.CallOpening;
import gatun.grpc.calls.CallAdmission.Encodings;
import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.headers.HeaderEncoder;
import gatun.grpc.streams.GrpcStream;
import gatun.memory.threads.CooperativeYield;
import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.KnownLength;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/**
 * The answering half of a call. A unary response is kept until the call is closed and goes out in one write; all else
 * is sent as it comes. A message beyond the client's window is sent by a thread of its own: a handler that asks
 * {@link #isReady} never waits, others wait with the next message. Used by one thread, but for {@code isReady}.
 */
final class CallResponse<R> {
    /** Bytes that are compressed in one step. */
    private static final int PIECE = 16 * 1024;

    @SuppressWarnings("rawtypes") // a class has no type arguments
    private static final AtomicReferenceFieldUpdater<CallResponse, @Nullable OutboundMessage> UNSENT_MESSAGE =
            AtomicReferenceFieldUpdater.newUpdater(CallResponse.class, OutboundMessage.class, "unsentMessage");

    private final CallOpening<?, R> opening;
    private final GrpcStream stream;
    private final boolean unary;

    private boolean headersGiven;
    private byte[] unsentHeaders = HeaderEncoder.NONE;
    private boolean messageGiven;
    private long sentByteSize;
    private Compressor compressor = Codec.Identity.NONE;
    private boolean compress = true;

    /** A unary call's message that waits for the call's end. Whoever takes it out sends it or closes it. */
    @SuppressWarnings("UnusedVariable") // UNSENT_MESSAGE reads it
    private volatile @Nullable OutboundMessage unsentMessage;

    /** The thread that sends a message which did not fit; set by the handler's thread, cleared by itself. */
    private volatile @Nullable Thread sender;

    CallResponse(CallOpening<?, R> opening, GrpcStream stream) {
        this.opening = opening;
        this.stream = stream;
        this.unary = opening.method().getMethodDescriptor().getType() == MethodDescriptor.MethodType.UNARY;
    }

    /** Compresses messages from now on, if the client takes that; before the headers. */
    void compression(String encoding) {
        if (headersGiven) {
            throw new IllegalStateException("the compression must be set before the headers are sent");
        }
        Compressor found = Encodings.compressor(encoding)
                .orElseThrow(() -> new IllegalArgumentException("there is no compressor '" + encoding + "'"));
        String acceptEncoding = opening.head().compression().acceptEncoding();
        compressor = Encodings.list(acceptEncoding).contains(encoding) ? found : Codec.Identity.NONE;
    }

    void messageCompression(boolean enabled) {
        compress = enabled;
    }

    private boolean compresses() {
        return !compressor.getMessageEncoding().equals(Codec.Identity.NONE.getMessageEncoding());
    }

    void headers(Metadata metadata) {
        if (headersGiven) {
            throw new IllegalStateException("the headers were already sent");
        }
        String encoding = compresses() ? compressor.getMessageEncoding() : "";
        byte[] block = HeaderEncoder.response(metadata, encoding);
        headersGiven = true;
        if (unary) {
            unsentHeaders = block;
        } else {
            stream.send(block, null, HeaderEncoder.NONE);
        }
    }

    /** Sends a message, or keeps it for the end of the call; false when nobody can receive it any more. */
    boolean message(R message, boolean cancelled) {
        if (!headersGiven) {
            throw new IllegalStateException("the headers must be sent before a message");
        }
        OutboundMessage serialised =
                serialise(opening.method().getMethodDescriptor().streamResponse(message));
        if (cancelled) {
            serialised.close();
            return true;
        }
        if (unary && messageGiven) {
            serialised.close();
            throw new IllegalStateException("a unary call has one response and this is the second");
        }
        messageGiven = true;
        OutboundMessage outgoing = compress && compresses() ? pack(serialised) : serialised;
        sentByteSize += outgoing.wireByteSize();
        if (unary) {
            unsentMessage = outgoing;
            return true;
        }
        return send(outgoing);
    }

    private boolean send(OutboundMessage message) {
        awaitSender();
        if (stream.hasRoomFor(message.wireByteSize())) {
            return stream.send(HeaderEncoder.NONE, message, HeaderEncoder.NONE);
        }
        Thread thread = opening.services().threads().newThread(() -> {
            stream.send(HeaderEncoder.NONE, message, HeaderEncoder.NONE);
            sender = null;
            stream.wake();
        });
        sender = thread;
        thread.start();
        return true;
    }

    private void awaitSender() {
        Thread thread = sender;
        boolean interrupted = false;
        while (thread != null && thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                // The frames of one stream must not mix: nothing can be sent before that message is out.
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Whether a message could be sent now without waiting. Any thread. */
    boolean isReady() {
        return sender == null && stream.isReady();
    }

    /** Nothing will be sent any more: waiting messages give their memory back. Any thread. */
    void abandon() {
        OutboundMessage unsent = UNSENT_MESSAGE.getAndSet(this, null);
        if (unsent != null) {
            unsent.close();
        }
    }

    long sentByteSize() {
        return sentByteSize;
    }

    /** Ends the call; false when nobody could receive that any more. */
    boolean close(Status status, Metadata trailers) {
        awaitSender();
        OutboundMessage last = UNSENT_MESSAGE.getAndSet(this, null);
        Status answer = status;
        if (unary && status.isOk() && !messageGiven) {
            answer = Status.INTERNAL.withDescription("Completed without a response");
        }
        if (last != null && !answer.isOk()) {
            last.close();
            last = null;
        }
        boolean onlyTrailers =
                !headersGiven || (unary && !answer.isOk() && Arrays.equals(unsentHeaders, HeaderEncoder.RESPONSE));
        byte[] headers = onlyTrailers ? HeaderEncoder.NONE : unsentHeaders;
        return stream.send(headers, last, lastBlock(answer, trailers, onlyTrailers));
    }

    private static byte[] lastBlock(Status status, Metadata trailers, boolean only) {
        try {
            return only ? HeaderEncoder.trailersOnly(status, trailers) : HeaderEncoder.trailers(status, trailers);
        } catch (IllegalArgumentException e) {
            Status unsendable = Status.INTERNAL.withDescription("the call ended with " + e.getMessage());
            Metadata none = new Metadata();
            return only ? HeaderEncoder.trailersOnly(unsendable, none) : HeaderEncoder.trailers(unsendable, none);
        }
    }

    private static OutboundMessage serialise(InputStream serialised) {
        if (serialised instanceof OutboundMessage message) {
            return message;
        }
        try (serialised) {
            if (serialised instanceof KnownLength) {
                return OutboundMessage.of(serialised.readNBytes(serialised.available()));
            }
            return OutboundMessage.of(serialised.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private OutboundMessage pack(OutboundMessage plain) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (plain;
                OutputStream target = compressor.compress(packed)) {
            byte[] piece = new byte[PIECE];
            CooperativeYield work = new CooperativeYield(CooperativeYield.DEFLATION_STEP);
            for (int count = plain.read(piece); count >= 0; count = plain.read(piece)) {
                target.write(piece, 0, count);
                work.worked(count);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return OutboundMessage.compressed(packed.toByteArray());
    }
}
