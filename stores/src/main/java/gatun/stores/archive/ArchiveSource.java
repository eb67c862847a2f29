// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.ObjectPath;
import gatun.stores.client.ObjectStore;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol;
import gatun.stores.client.StoredObject;
import gatun.stores.location.ArchiveLocation;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** An archive at its URL: which state it has, and its bytes. Safe for one thread at a time. */
public final class ArchiveSource implements AutoCloseable {
    private static final int REDIRECTS = 5;

    /** Links that are signed have 2 KB, at most. */
    private static final int URL_CHARACTERS = 8192;

    /** It is kept with the archive, and sent back. */
    private static final int STATE_CHARACTERS = 512;

    private static final Pattern RANGE = Pattern.compile("bytes 0-0/([0-9]{1,18})");

    private final ArchiveLocation location;
    private final StoreHttp http;
    private final ObjectStore store;

    /** Where the archive was when it was looked at last. */
    private URI place;

    /** Owns {@code http}. */
    public ArchiveSource(ArchiveLocation location, StoreHttp http, StoreLimits limits) {
        this.location = location;
        this.http = http;
        place = location.uri();
        store = new ObjectStore(location.text(), new Requests(), http, limits);
    }

    private boolean isFile() {
        return location.uri().getScheme().equalsIgnoreCase("file");
    }

    private Path file() throws StoreException {
        try {
            return Path.of(location.uri());
        } catch (IllegalArgumentException e) {
            throw new StoreException(
                    Kind.ABSENT, location.text() + " is no file of this machine; expected file:///PATH", e);
        }
    }

    /** The archive as it is now. Throws {@link StoreException} when it cannot be had. */
    public StoredObject look() throws IOException {
        List<Checksum> checksums = location.sha256()
                .map(hex -> List.of(new Checksum(Algorithm.SHA256, hex)))
                .orElse(List.of());
        if (isFile()) {
            try {
                return new StoredObject(
                        location.text(), Files.getLastModifiedTime(file()).toString(), Files.size(file()), checksums);
            } catch (NoSuchFileException e) {
                throw new StoreException(Kind.ABSENT, location.text() + " is not there", e);
            }
        }
        place = location.uri();
        for (int redirects = 0; redirects <= REDIRECTS; redirects++) {
            // The first byte, since a link that is signed for this request is not for HEAD.
            try (StoreHttp.StoreResponse response =
                    http.send(HttpRequest.newBuilder(place).header("Range", "bytes=0-0"), Long.MAX_VALUE)) {
                if (response.status() == 200 || response.status() == 206) {
                    return new StoredObject(location.text(), state(response.head()), byteSize(response), checksums);
                }
                Optional<String> next = response.head().firstValue("Location");
                if (response.status() < 300 || response.status() >= 400 || next.isEmpty()) {
                    Kind kind = response.status() >= 500 ? Kind.UNAVAILABLE : Kind.ABSENT;
                    throw new StoreException(
                            kind, location.text() + " cannot be had (status " + response.status() + ")");
                }
                follow(next.get());
            }
        }
        throw new StoreException(Kind.MALFORMED, location.text() + " leads on more than " + REDIRECTS + " times");
    }

    private void follow(String next) throws IOException {
        if (next.length() > URL_CHARACTERS) {
            throw new StoreException(
                    Kind.MALFORMED,
                    location.text() + " leads to a URL of " + next.length() + " characters; expected at most "
                            + URL_CHARACTERS);
        }
        URI to;
        try {
            to = place.resolve(next);
        } catch (IllegalArgumentException e) {
            throw new StoreException(Kind.MALFORMED, location.text() + " leads to what is no URL", e);
        }
        boolean secure = "https".equalsIgnoreCase(to.getScheme());
        boolean plain = "http".equalsIgnoreCase(to.getScheme()) && "http".equalsIgnoreCase(place.getScheme());
        if (to.getHost() == null || !(secure || plain)) {
            throw new StoreException(
                    Kind.MALFORMED, location.text() + " leads to another kind of URL, which is not followed");
        }
        if (!to.getHost().equalsIgnoreCase(location.uri().getHost()) && isInner(to.getHost())) {
            throw new StoreException(
                    Kind.MALFORMED,
                    location.text() + " leads to " + ObjectPath.printable(to.getHost())
                            + ", an address of this network, which is not followed");
        }
        place = to;
    }

    /** Whether a host is this machine or in its network, which nobody from outside should reach. */
    private static boolean isInner(String host) throws StoreException {
        try {
            for (InetAddress address : InetAddress.getAllByName(host)) {
                boolean unique = address.getAddress().length == 16 && (address.getAddress()[0] & 0xfe) == 0xfc;
                if (address.isLoopbackAddress()
                        || address.isLinkLocalAddress()
                        || address.isSiteLocalAddress()
                        || address.isAnyLocalAddress()
                        || unique) {
                    return true;
                }
            }
            return false;
        } catch (UnknownHostException e) {
            throw new StoreException(Kind.UNAVAILABLE, "there is no host " + ObjectPath.printable(host), e);
        }
    }

    private String state(HttpHeaders head) throws StoreException {
        String state = head.firstValue("ETag")
                .or(() -> head.firstValue("Last-Modified"))
                .orElse(location.sha256().orElse(""));
        if (state.length() > STATE_CHARACTERS) {
            throw new StoreException(
                    Kind.MALFORMED,
                    location.text() + " has an ETag of " + state.length() + " characters; expected at most "
                            + STATE_CHARACTERS);
        }
        return state;
    }

    private long byteSize(StoreHttp.StoreResponse response) throws StoreException {
        if (response.status() == 206) {
            Matcher range =
                    RANGE.matcher(response.head().firstValue("Content-Range").orElse(""));
            if (range.matches()) {
                return Long.parseLong(range.group(1));
            }
        }
        return response.head()
                .firstValueAsLong("Content-Length")
                .orElseThrow(() ->
                        new StoreException(Kind.MALFORMED, location.text() + " does not say how many bytes it has"));
    }

    /** Fetches the archive as it was looked at, into a file that is not there yet. */
    public void fetch(StoredObject archive, Path target, LongConsumer progress) throws IOException {
        if (isFile()) {
            Files.copy(file(), target, StandardCopyOption.COPY_ATTRIBUTES);
            for (Checksum checksum : archive.checksums()) {
                checksum.require(target, archive.name());
            }
        } else {
            store.fetch(archive, target, progress);
        }
    }

    private final class Requests implements StoreProtocol {
        @Override
        public HttpRequest.Builder list(String prefix, boolean deep, String page) {
            throw new UnsupportedOperationException("an archive is no folder");
        }

        @Override
        public Page read(InputStream body) {
            throw new UnsupportedOperationException("an archive is no folder");
        }

        @Override
        public HttpRequest.Builder get(StoredObject object, long offset) {
            HttpRequest.Builder request = HttpRequest.newBuilder(place);
            // Weak ones compare with none (RFC 9110, section 13.1.1).
            if (object.etag().startsWith("\"")) {
                request.header("If-Match", object.etag());
            }
            return offset == 0 ? request : request.header("Range", "bytes=" + offset + "-");
        }

        @Override
        public List<Checksum> checksums(StoredObject object, HttpHeaders head) {
            return List.of();
        }
    }

    @Override
    public void close() {
        store.close();
    }
}
