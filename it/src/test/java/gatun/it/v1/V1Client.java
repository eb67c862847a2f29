// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.io.ByteStreams;
import gatun.it.harness.HttpApi;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.MethodDescriptor;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Clients of the legacy v1 API, written from its tables of messages and headers. Each response has a deadline. */
public interface V1Client {
    /** The names of the codes by their numbers. */
    List<String> CODES = List.of(
            "INVALID",
            "SUCCESS",
            "UNKNOWN",
            "INTERNAL",
            "NOT_FOUND",
            "INVALID_ARG",
            "UNAVAILABLE",
            "UNSUPPORTED",
            "ALREADY_EXISTS");

    /** The number by which a gRPC client asks for any version. */
    long LATEST = -1;

    /** The outcome of an inference. */
    record Response(String code, String text, V1Message header, List<byte[]> raw) {
        /** This outcome, which must be a success. */
        public Response succeeded() {
            assertThat(code).as(text).isEqualTo("SUCCESS");
            return this;
        }
    }

    /** Asks for an inference. */
    Response infer(String model, long version, V1Header header);

    /** Over HTTP, with responses whose trailer is binary. */
    record Http(HttpApi api) implements V1Client {
        private static final Pattern CODE = Pattern.compile("code: (\\w+)");
        private static final Pattern TEXT = Pattern.compile("msg: \"((?:[^\"\\\\]|\\\\.)*)\"");
        private static final Pattern RAW = Pattern.compile("batch_byte_size: (\\d+)");

        @Override
        public Response infer(String model, long version, V1Header header) {
            String path = "/api/infer/" + model + (version == LATEST ? "" : "/" + version) + "?format=binary";
            HttpResponse<byte[]> response = api.send(
                    HttpRequest.newBuilder(api.uri(path))
                            .header("NV-InferRequest", header.text())
                            .POST(HttpRequest.BodyPublishers.ofByteArrays(header.data())),
                    HttpResponse.BodyHandlers.ofByteArray());
            String status = status(response);
            boolean succeeded = response.statusCode() == 200;
            assertThat(status.startsWith("code: SUCCESS")).as(status).isEqualTo(succeeded);
            String told = response.headers().firstValue("NV-InferResponse").orElseThrow();
            List<byte[]> raw = new ArrayList<>();
            int at = 0;
            // Sizes of outputs in shared memory stand there too: what remains then is too short for them.
            for (Matcher size = RAW.matcher(told); size.find(); ) {
                int length = header.text().contains("shared_memory") ? 0 : Integer.parseInt(size.group(1));
                raw.add(Arrays.copyOfRange(response.body(), at, at + length));
                at += length;
            }
            V1Message trailer = V1Message.parse(Arrays.copyOfRange(response.body(), at, response.body().length));
            if (!succeeded) {
                assertThat(response.body()).isEmpty();
                assertThat(told).matches("(id: \\d+)?");
                if (!told.isEmpty()) {
                    trailer.number(5, Long.parseUnsignedLong(told.substring("id: ".length())));
                }
            }
            return new Response(first(CODE, status), first(TEXT, status).replace("\\'", "'"), trailer, raw);
        }

        /** The header with the status of a request. */
        static String status(HttpResponse<?> response) {
            return response.headers().firstValue("NV-Status").orElseThrow();
        }

        private static String first(Pattern pattern, String text) {
            Matcher matcher = pattern.matcher(text);
            return matcher.find() ? matcher.group(1) : "";
        }
    }

    /** Over gRPC. */
    record Grpc(Channel channel) implements V1Client {
        private static final int LIMIT_SECONDS = 20;

        @Override
        public Response infer(String model, long version, V1Header header) {
            return answer(call("Infer", request(model, version, header)));
        }

        /** The message that asks for an inference. */
        static V1Message request(String model, long version, V1Header header) {
            V1Message request =
                    new V1Message().text(1, model).number(2, version).message(3, header.message());
            header.data().forEach(bytes -> request.bytes(4, bytes));
            return request;
        }

        /** The outcome that a response message tells. */
        static Response answer(V1Message response) {
            V1Message status = response.message(1);
            return new Response(
                    CODES.get((int) status.number(1)), status.text(2), response.message(2), response.allBytes(3));
        }

        /** Makes a call with one response. */
        V1Message call(String method, V1Message request) {
            return V1Message.parse(call(method, request.toByteArray()));
        }

        /** Makes a call with bytes that may be no message. */
        byte[] call(String method, byte[] request) {
            return ClientCalls.blockingUnaryCall(
                    channel,
                    descriptor(method, MethodDescriptor.MethodType.UNARY),
                    CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS),
                    request);
        }

        /** Begins a stream of inferences. */
        ClientCall<byte[], byte[]> stream() {
            return channel.newCall(
                    descriptor("StreamInfer", MethodDescriptor.MethodType.BIDI_STREAMING),
                    CallOptions.DEFAULT.withDeadlineAfter(LIMIT_SECONDS, TimeUnit.SECONDS));
        }

        private static MethodDescriptor<byte[], byte[]> descriptor(String method, MethodDescriptor.MethodType type) {
            return MethodDescriptor.<byte[], byte[]>newBuilder()
                    .setType(type)
                    .setFullMethodName("nvidia.inferenceserver.GRPCService/" + method)
                    .setRequestMarshaller(new Bytes())
                    .setResponseMarshaller(new Bytes())
                    .build();
        }
    }

    /** Messages as they are on the wire. */
    final class Bytes implements MethodDescriptor.Marshaller<byte[]> {
        @Override
        public InputStream stream(byte[] message) {
            return new ByteArrayInputStream(message);
        }

        @Override
        public byte[] parse(InputStream stream) {
            try {
                return ByteStreams.toByteArray(stream);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** A tensor of strings: each with its length before it. */
    static byte[] strings(String... elements) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (String element : elements) {
            byte[] bytes = element.getBytes(StandardCharsets.UTF_8);
            for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
                out.write(bytes.length >>> shift);
            }
            out.writeBytes(bytes);
        }
        return out.toByteArray();
    }
}
