// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.FaultyStore;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import gatun.stores.s3.S3Protocol;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A store whose listings were made to fill the heap, or to have no end, is refused by what it listed. */
class ListingLimitsTest {
    private static final StoreLimits LIMITS = StoreLimits.of(Duration.ofSeconds(10));

    private final AtomicInteger pages = new AtomicInteger();

    private FaultyStore server;
    private ObjectStore store;

    @BeforeEach
    void start() throws IOException {
        server = FaultyStore.start();
        StoreLocation location = (StoreLocation) RepositoryLocation.parse(server.url(""));
        store = new ObjectStore(
                "the store", S3Protocol.of(location, Map.of(), Map.of()), new StoreHttp(LIMITS), LIMITS);
    }

    @AfterEach
    void stop() {
        store.close();
        server.close();
    }

    /** Writes what a page has on it. */
    private interface Rows {
        void write(int page, StringBuilder xml);
    }

    /** Each page names another one. */
    private void listWithoutEnd(Rows rows) {
        server.replies.put("?", (out, request) -> {
            int page = pages.incrementAndGet();
            StringBuilder xml = new StringBuilder("<L>")
                    .append("<IsTruncated>true</IsTruncated><NextContinuationToken>")
                    .append(page)
                    .append("</NextContinuationToken>");
            rows.write(page, xml);
            FaultyStore.status(out, "200 OK", xml.append("</L>").toString());
        });
    }

    private void refuse(Kind kind, String reason) {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> store.list(""))
                .withMessageContaining(reason)
                .satisfies(failure -> assertThat(failure.kind()).isEqualTo(kind))
                .satisfies(failure -> assertThat(failure.getMessage()).hasSizeLessThan(400));
    }

    @Test
    void shouldRefuseALongNameWhileItComes() {
        server.replies.put("?", (out, request) -> FaultyStore.endless(out, "<L><Contents><Key>", "k".repeat(1000)));

        refuse(Kind.MALFORMED, "more than 8192 characters in an element");
    }

    @Test
    void shouldRefuseALongElementOrAttributeWhileItComes() {
        server.replies.put("?", (out, request) -> FaultyStore.endless(out, "<L><Contents><", "k".repeat(1000)));
        refuse(Kind.MALFORMED, "no XML that can be read");

        server.replies.put("?", (out, request) -> FaultyStore.endless(out, "<L><Contents a='", "k".repeat(1000)));
        refuse(Kind.LIMIT, "more than the 16777216 bytes");
    }

    @Test
    void shouldRefuseNamesThatAreManyMegabytesTogether() {
        listWithoutEnd((page, xml) -> {
            for (int i = 0; i < 1000; i++) {
                xml.append("<Contents><Key>")
                        .append("k".repeat(1000))
                        .append(page)
                        .append('/')
                        .append(i)
                        .append("</Key><ETag>e</ETag><Size>1</Size></Contents>");
            }
        });

        refuse(Kind.LIMIT, "more than objects whose names have 16777216 characters together");
        assertThat(pages).hasValue(17);
    }

    @Test
    void shouldRefuseRowsOfManyElements() {
        listWithoutEnd((page, xml) -> {
            xml.append("<Contents>");
            for (int i = 0; i < 1000; i++) {
                xml.append("<a").append(i).append("/>");
            }
            xml.append("</Contents>");
        });

        refuse(Kind.MALFORMED, "more than 64 elements in a row");
    }

    @Test
    void shouldRefusePagesOfManyRows() {
        listWithoutEnd((page, xml) -> xml.append("<Contents/>".repeat(20_000)));

        refuse(Kind.MALFORMED, "more than 10000 rows on a page");
    }

    @Test
    void shouldRefusePagesWithNothingOnThem() {
        listWithoutEnd((page, xml) -> {});

        refuse(Kind.MALFORMED, "sends more than 100 pages in a row with no object on them");
        assertThat(pages).hasValue(101);
    }

    @Test
    void shouldRefuseADocumentThatExpands() {
        server.replies.put(
                "?",
                (out, request) -> FaultyStore.status(
                        out,
                        "200 OK",
                        "<!DOCTYPE L [<!ENTITY a '" + "a".repeat(1000) + "'><!ENTITY b '" + "&a;".repeat(1000)
                                + "'>]><L><Contents><Key>&b;</Key></Contents></L>"));

        refuse(Kind.MALFORMED, "has a document type");
    }

    @Test
    void shouldReadTheBeginningOfAnErrorOnly() {
        server.replies.put("?", (out, request) -> {
            out.write("HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n<Error><Code>Denied</Code>"
                    .getBytes(StandardCharsets.UTF_8));
            fill(out, "x".repeat(1000));
        });

        refuse(Kind.DENIED, "(status 403: Denied)");
    }

    @Test
    void shouldRefuseAHeadWithoutEnd() {
        server.replies.put("?", (out, request) -> {
            out.write("HTTP/1.1 200 OK\r\n".getBytes(StandardCharsets.UTF_8));
            fill(out, "X-Header: " + "x".repeat(1000) + "\r\n");
        });

        refuse(Kind.UNAVAILABLE, "cannot be reached");
    }

    /** Until the client has enough. */
    private static void fill(OutputStream out, String unit) throws IOException {
        byte[] bytes = unit.getBytes(StandardCharsets.UTF_8);
        while (true) {
            out.write(bytes);
        }
    }
}
