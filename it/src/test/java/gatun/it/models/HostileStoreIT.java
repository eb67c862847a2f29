// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPOutputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Stores and archives that were made to end a server fail with a reason, and what it serves goes on. */
class HostileStoreIT {
    private final AtomicInteger pages = new AtomicInteger();

    @TempDir
    Path folder;

    private HttpServer store;

    @BeforeEach
    void startStore() throws IOException {
        store = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        store.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        store.createContext("/keys", exchange -> page(exchange, 1, 30 << 20));
        store.createContext("/names", exchange -> page(exchange, 1000, 1000));
        store.createContext("/circle", exchange -> page(exchange, 0, 0));
        store.createContext("/one", exchange -> {
            byte[] listing = "<L><Contents><Key>simple/config.pbtxt</Key><ETag>e</ETag><Size>0</Size></Contents></L>"
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, listing.length);
            exchange.getResponseBody().write(listing);
            exchange.close();
        });
        store.start();
    }

    @AfterEach
    void stopStore() {
        store.stop(0);
    }

    /** A page with names of many characters, which names another one. */
    private void page(HttpExchange exchange, int rows, int characters) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        int page = pages.incrementAndGet();
        byte[] name = new byte[characters];
        Arrays.fill(name, (byte) 'k');
        try (OutputStream out = new BufferedOutputStream(exchange.getResponseBody())) {
            write(out, "<L><IsTruncated>true</IsTruncated><NextContinuationToken>" + page + "</NextContinuationToken>");
            for (int i = 0; i < rows; i++) {
                write(out, "<Contents><Key>");
                out.write(name);
                write(out, page + "/" + i + "</Key><ETag>e</ETag><Size>1</Size></Contents>");
            }
            write(out, "</L>");
        }
    }

    private static void write(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.UTF_8));
    }

    private String bucket(String name) {
        return "--model-repository=s3://http://127.0.0.1:" + store.getAddress().getPort() + "/" + name;
    }

    private static String archive(Path file) {
        return "--model-repository=" + file.toUri();
    }

    /** A tar file of a megabyte, with headers of a gigabyte and no end. */
    private void writeHeaders(Path file) throws IOException {
        byte[] header = new byte[512];
        byte[] name = "a".getBytes(StandardCharsets.UTF_8);
        System.arraycopy(name, 0, header, 0, name.length);
        byte[] size = "00000100000".getBytes(StandardCharsets.UTF_8);
        System.arraycopy(size, 0, header, 124, size.length);
        header[156] = 'x';
        int sum = 8 * ' ';
        for (byte b : header) {
            sum += b;
        }
        byte[] checksum = "%06o\0 ".formatted(sum).getBytes(StandardCharsets.UTF_8);
        System.arraycopy(checksum, 0, header, 148, checksum.length);
        byte[] content = new byte[0100000];
        try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file), 1 << 16)) {
            for (int i = 0; i < 1 << 15; i++) {
                out.write(header);
                out.write(content);
            }
        }
    }

    /** A zip file that says it has four million entries. */
    private Path directory() throws IOException {
        Path file = folder.resolve("directory.zip");
        int byteSize = 200_000_000;
        try (RandomAccessFile zip = new RandomAccessFile(file.toFile(), "rw")) {
            zip.seek(byteSize);
            zip.write(ByteBuffer.allocate(22)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putInt(0, 0x06054b50)
                    .putShort(8, (short) -1)
                    .putShort(10, (short) -1)
                    .putInt(12, byteSize)
                    .array());
        }
        return file;
    }

    /** The model {@code simple}. */
    private Path simple() throws IOException {
        Path model = ServerProcess.exampleModels().resolve("simple");
        Path file = folder.resolve("simple.zip");
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(file))) {
            for (String name : new String[] {"config.pbtxt", "1/model.onnx"}) {
                out.putNextEntry(new ZipEntry(name));
                Files.copy(model.resolve(name), out);
            }
        }
        return file;
    }

    @Test
    void shouldGoOnServingBesideWhatFillsTheHeap() throws IOException, InterruptedException {
        Path headers = folder.resolve("headers.tar.gz");
        writeHeaders(headers);
        Path served = simple();
        try (ServerProcess server = ServerProcess.launchList(
                                archive(served),
                                archive(headers),
                                archive(directory()),
                                bucket("keys"),
                                bucket("names"),
                                bucket("circle"),
                                "--exit-on-error=false",
                                "--model-control-mode=explicit",
                                "--load-model=simple",
                                "--store-cache-dir=" + folder.resolve("cache"))
                        .expectErrors();
                HttpApi api = new HttpApi(server)) {
            assertThat(server.log())
                    .contains(
                            "headers.tar.gz is not served: the archive has more than 8 headers before one of its entries")
                    .contains("directory.zip is not served: the archive has a directory of 200000000 bytes")
                    .contains("/keys is not served: the store's listing has more than 8192 characters in an element")
                    .contains("objects whose names have 16777216 characters together")
                    .contains("/circle sends more than 100 pages in a row with no object on them");
            requireAnswer(api);

            // What serves stays when its archive becomes one of these.
            Path next = Files.write(folder.resolve("next"), Files.readAllBytes(directory()));
            Files.move(next, served, StandardCopyOption.ATOMIC_MOVE);

            HttpResponse<String> loaded = api.post("/v2/repository/models/simple/load", "");
            assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(503);
            assertThat(loaded.body()).contains("has a directory of 200000000 bytes; expected at most");
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("\"state\":\"READY\"", "has a directory of 200000000 bytes");
            requireAnswer(api);
            assertThat(server.log()).doesNotContain("OutOfMemoryError");
        }
    }

    @Test
    void shouldSayThatAUrlIsThatOfOneModel() {
        ServerProcess server = ServerProcess.start(
                List.of(
                        "serve",
                        "--http-port=0",
                        "--grpc-port=0",
                        "--metrics-port=0",
                        bucket("one/simple"),
                        "--store-cache-dir=" + folder.resolve("cache")),
                Map.of("AWS_EC2_METADATA_DISABLED", "true"));

        assertThat(server.awaitExit(Duration.ofSeconds(60))).isEqualTo(1);
        assertThat(server.transcript())
                .contains(
                        "/one/simple is the folder of one model, and not one that holds models; name the folder above it:"
                                + " s3://http://127.0.0.1:" + store.getAddress().getPort() + "/one");
    }

    private static void requireAnswer(HttpApi api) {
        HttpResponse<String> response = api.post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        assertThat(response.body()).contains(SimpleModel.jsonData(SimpleModel.SUM));
    }
}
