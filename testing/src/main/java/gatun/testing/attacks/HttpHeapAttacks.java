// SPDX-License-Identifier: Apache-2.0
package gatun.testing.attacks;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.GZIPOutputStream;

/**
 * Requests over HTTP that would become large on a server's heap. They ask the example models, and {@code identity_int8}
 * and {@code identity_bytes}, which give back what they get.
 */
public final class HttpHeapAttacks {
    /** As many bytes of a body as servers take by default. */
    private static final long LARGEST_BODY = 64 << 20;

    private static final String WRONG = "200, but wrong";
    private static final String SIMPLE = "/v2/models/simple/infer";
    private static final String IDENTITY = "/v2/models/identity_fp32/infer";
    private static final String STRINGS = "/v2/models/identity_bytes/infer";

    private static final Set<String> REFUSED = Set.of("413");
    /** For what is taken or refused as the memory of the moment has it. */
    private static final Set<String> ANSWERED_OR_LATER = Set.of("200", "503");

    private final long longText;

    /** Attacks with texts of {@code longText} bytes, at most a whole body. */
    public HttpHeapAttacks(long longText) {
        this.longText = longText;
    }

    /** Every attack of this kind. */
    public List<Attack> all() {
        List<Attack> attacks = new ArrayList<>();
        texts(attacks);
        counts(attacks);
        tensors(attacks);
        return attacks;
    }

    private void texts(List<Attack> attacks) {
        attacks.add(text("a request's id", SIMPLE, "{\"id\":\"", "\",\"inputs\":[]}"));
        attacks.add(text("the name of an input", SIMPLE, "{\"inputs\":[{\"name\":\"", "\",\"datatype\":\"INT32\"}]}"));
        attacks.add(text("a parameter's value", SIMPLE, "{\"parameters\":{\"p\":\"", "\"},\"inputs\":[]}"));
        attacks.add(text(
                "a key of shared memory",
                "/v2/systemsharedmemory/region/r/register",
                "{\"key\":\"/",
                "\",\"offset\":0,\"byte_size\":4}"));
        attacks.add(text("the log's format", "/v2/logging", "{\"log_format\":\"", "\"}"));
        attacks.add(text(
                "a signature's name",
                "/v1/models/identity_fp32:predict",
                "{\"signature_name\":\"",
                "\",\"instances\":[1.5]}"));
        attacks.add(new Attack(
                "gzip of an id",
                REFUSED,
                target -> post(
                        target,
                        SIMPLE,
                        gzip(RepeatedBody.filling("{\"id\":\"", 'x', "\",\"inputs\":[]}", longText)),
                        "Content-Encoding: gzip")));
        attacks.add(new Attack(
                "a body as long as may be, nearly all of it an id",
                REFUSED,
                target -> post(
                        target, SIMPLE, RepeatedBody.filling("{\"id\":\"", 'x', "\",\"inputs\":[]}", LARGEST_BODY))));
    }

    private void counts(List<Attack> attacks) {
        long count = longText / 12;
        attacks.add(new Attack(
                "millions of parameters",
                REFUSED,
                target -> post(
                        target,
                        SIMPLE,
                        RepeatedBody.of("{\"parameters\":{\"a\":1", ",\"bcd\":1234", count, "},\"inputs\":[]}"))));
        attacks.add(new Attack(
                "millions of requested outputs",
                REFUSED,
                target -> post(
                        target,
                        SIMPLE,
                        RepeatedBody.of(
                                "{\"inputs\":[],\"outputs\":[{\"name\":\"a\"}",
                                ",{\"name\":\"b\"}",
                                longText / 13,
                                "]}"))));
        attacks.add(new Attack(
                "millions of inputs",
                Set.of("400", "413"),
                target -> post(
                        target,
                        SIMPLE,
                        RepeatedBody.of("{\"inputs\":[{\"name\":\"a\"}", ",{\"name\":\"b\"}", longText / 13, "]}"))));
        attacks.add(new Attack(
                "a shape of millions of dimensions",
                Set.of("400", "413"),
                target -> post(
                        target,
                        SIMPLE,
                        RepeatedBody.of(
                                "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"INT32\",\"shape\":[1",
                                ",1",
                                longText / 2,
                                "]}]}"))));
    }

    private void tensors(List<Attack> attacks) {
        attacks.add(new Attack("a long string", ANSWERED_OR_LATER, this::longString));
        attacks.add(
                new Attack("numbers in JSON, in and out", ANSWERED_OR_LATER, target -> numbers(target, longText / 4)));
        attacks.add(new Attack("binary in, JSON out", ANSWERED_OR_LATER, this::binaryIn));
        attacks.add(new Attack("rows of numbers", ANSWERED_OR_LATER, this::rows));
        attacks.add(new Attack("columns of numbers", ANSWERED_OR_LATER, this::columns));
        attacks.add(new Attack("many short strings", ANSWERED_OR_LATER, this::shortStrings));
        attacks.add(new Attack(
                "generate of a long text",
                ANSWERED_OR_LATER,
                target -> post(
                        target,
                        "/v2/models/identity_bytes/generate",
                        RepeatedBody.filling("{\"IN\":\"", 'x', "\"}", longText))));
        attacks.add(new Attack("eight clients at once", ANSWERED_OR_LATER, this::eightAtOnce));
    }

    private Attack text(String name, String path, String begin, String end) {
        return new Attack(name, REFUSED, target -> post(target, path, RepeatedBody.filling(begin, 'x', end, longText)));
    }

    private String longString(Target target) throws IOException {
        RepeatedBody body = RepeatedBody.filling(
                "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"",
                'x',
                "\"]}]}",
                longText);
        return answered(target, STRINGS, body, "x", body.count());
    }

    private String numbers(Target target, long count) throws IOException {
        RepeatedBody body = RepeatedBody.of(
                "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[" + (count + 1) + "],\"data\":[1.5",
                ",1.5",
                count,
                "]}]}");
        return answered(target, IDENTITY, body, "1.5", count + 1);
    }

    private String binaryIn(Target target) throws IOException {
        String head = "{\"inputs\":[{\"name\":\"IN\",\"datatype\":\"INT8\",\"shape\":[" + longText
                + "],\"parameters\":{\"binary_data_size\":" + longText + "}}]}";
        RepeatedBody body =
                new RepeatedBody(head.getBytes(StandardCharsets.US_ASCII), new byte[] {-77}, longText, new byte[0]);
        return answered(
                target,
                "/v2/models/identity_int8/infer",
                body,
                "-77",
                longText,
                "Inference-Header-Content-Length: " + head.length());
    }

    private String rows(Target target) throws IOException {
        long count = longText / 2;
        return answered(
                target,
                "/v1/models/identity_fp32:predict",
                RepeatedBody.of("{\"instances\":[7", ",7", count, "]}"),
                "7.0",
                count + 1);
    }

    private String columns(Target target) throws IOException {
        long count = longText / 2;
        return answered(
                target,
                "/v1/models/identity_fp32:predict",
                RepeatedBody.of("{\"inputs\":[7", ",7", count, "]}"),
                "7.0",
                count + 1);
    }

    private String shortStrings(Target target) throws IOException {
        long count = longText / 4;
        return answered(
                target,
                "/v1/models/identity_bytes:predict",
                RepeatedBody.of("{\"instances\":[\"x\"", ",\"x\"", count, "]}"),
                "x",
                count + 1);
    }

    private String eightAtOnce(Target target) throws IOException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Callable<String>> clients = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                clients.add(i % 2 == 0 ? () -> numbers(target, longText / 24) : () -> rows(target));
            }
            String worst = "200";
            for (Future<String> client : threads.invokeAll(clients)) {
                String outcome = client.get();
                worst = outcome.equals("200") ? worst : outcome;
            }
            return worst;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        } catch (ExecutionException e) {
            throw new IOException(e);
        }
    }

    private static String answered(
            Target target, String path, RepeatedBody body, String pattern, long count, String... headers)
            throws IOException {
        try (HttpAttacker attacker = new HttpAttacker(target.http())) {
            HttpAttacker.Response response = attacker.post(path, body, pattern, headers);
            // The text around the data may have the pattern too.
            boolean right = response.matches() >= count && response.matches() <= count + 4;
            return response.status().equals("200") && !right
                    ? WRONG + ": " + response.matches() + " and not " + count + " times " + pattern
                    : response.status();
        }
    }

    private static String post(Target target, String path, RepeatedBody body, String... headers) throws IOException {
        try (HttpAttacker attacker = new HttpAttacker(target.http())) {
            return attacker.post(path, body, "", headers).status();
        }
    }

    private static RepeatedBody gzip(RepeatedBody body) throws IOException {
        ByteArrayOutputStream compressed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(compressed)) {
            body.writeTo(gzip);
        }
        return new RepeatedBody(compressed.toByteArray(), new byte[] {0}, 0, new byte[0]);
    }
}
