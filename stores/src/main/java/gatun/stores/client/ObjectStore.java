// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreHttp.StoreResponse;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.LongConsumer;

/** A store of objects: lists and fetches them, and resumes where a connection broke. Thread-safe. */
public final class ObjectStore implements AutoCloseable {
    private static final long RESTART_BYTES = 4 << 20;

    private final String text;
    private final StoreProtocol protocol;
    private final StoreLimits limits;
    private final StoreHttp http;

    /** {@code text} is the store's name in errors. */
    public ObjectStore(String text, StoreProtocol protocol, StoreHttp http, StoreLimits limits) {
        this.text = text;
        this.protocol = protocol;
        this.http = http;
        this.limits = limits;
    }

    /** An operation that may be worth another attempt. */
    private interface Attempt<T> {
        T run() throws IOException;

        /** The bytes that all attempts have brought. */
        default long position() throws IOException {
            return 0;
        }
    }

    /** All objects with that prefix. Throws {@link StoreException} when they cannot be listed, or are too many. */
    public List<StoredObject> list(String prefix) throws IOException {
        List<StoredObject> objects = new ArrayList<>();
        eachPage(prefix, true, page -> objects.addAll(page.objects()));
        return objects;
    }

    /** The folders below {@code prefix}, one level deep, each with the slash at its end. */
    public Set<String> folders(String prefix) throws IOException {
        Set<String> folders = new HashSet<>();
        eachPage(prefix, false, page -> folders.addAll(page.folders()));
        return folders;
    }

    private void eachPage(String prefix, boolean deep, Consumer<StoreProtocol.Page> reader) throws IOException {
        ListingCount count = new ListingCount(text, limits);
        String next = "";
        do {
            String begin = next;
            StoreProtocol.Page page = attempted(() -> page(prefix, deep, begin));
            count.add(page);
            reader.accept(page);
            next = page.next();
        } while (!next.isEmpty());
    }

    private StoreProtocol.Page page(String prefix, boolean deep, String begin) throws IOException {
        try (StoreResponse response = ask(() -> protocol.list(prefix, deep, begin), limits.pageByteSize())) {
            if (response.status() != 200) {
                throw failure(response, text);
            }
            return protocol.read(response.body());
        }
    }

    /** A request that is made anew for each attempt, since its signature has a time. */
    private interface RequestSource {
        HttpRequest.Builder make() throws IOException;
    }

    private StoreResponse ask(RequestSource request, long byteLimit) throws IOException {
        StoreResponse response = http.send(request.make(), byteLimit);
        if (response.status() >= 300 && protocol.refused(response.status(), response.head())) {
            response.close();
            return http.send(request.make(), byteLimit);
        }
        return response;
    }

    /**
     * Fetches an object into a file that is not there yet, and checks what arrived.
     *
     * @param progress is told of bytes as they come; of fewer than none when some come once more
     * @throws StoreException when it cannot be had as it was listed; the file may be there in parts
     */
    public void fetch(StoredObject object, Path file, LongConsumer progress) throws IOException {
        Transfer transfer = new Transfer(object, file, progress);
        Files.createFile(file);
        attempted(transfer);
        for (Checksum checksum : transfer.checksums()) {
            checksum.require(file, object.name());
        }
    }

    /** One object on its way. */
    private final class Transfer implements Attempt<Boolean> {
        private final StoredObject object;
        private final Path file;
        private final LongConsumer progress;
        private final List<Checksum> checksums;

        Transfer(StoredObject object, Path file, LongConsumer progress) {
            this.object = object;
            this.file = file;
            this.progress = progress;
            checksums = new ArrayList<>(object.checksums());
        }

        List<Checksum> checksums() {
            return checksums;
        }

        @Override
        public long position() throws IOException {
            return Files.size(file);
        }

        @Override
        public Boolean run() throws IOException {
            long there = Files.size(file);
            if (there >= object.byteSize() && there > 0) {
                return true;
            }
            if (object.byteSize() == 0) {
                return true; // A range of nothing is an error in HTTP.
            }
            try (StoreResponse response = ask(() -> protocol.get(object, there), object.byteSize() - there)) {
                boolean whole = response.status() == 200 && there == 0;
                boolean rest = response.status() == 206 && begins(response, there);
                if (response.status() == 412 || response.status() == 416) {
                    throw new StoreException(
                            Kind.CHANGED, "'" + object.name() + "' has changed since it was listed in " + text);
                }
                if (!whole && !rest) {
                    throw response.status() < 300
                            ? new StoreException(
                                    Kind.MALFORMED, "'" + object.name() + "' was not sent from byte " + there + " on")
                            : failure(response, "'" + object.name() + "' of " + text);
                }
                if (there == 0) {
                    checksums.addAll(protocol.checksums(object, response.head()));
                }
                copy(response.body());
            }
            long arrived = Files.size(file);
            if (arrived != object.byteSize()) {
                throw new StoreException(
                        Kind.UNAVAILABLE,
                        "'" + object.name() + "' ended after " + arrived + " of " + object.byteSize() + " bytes");
            }
            return true;
        }

        private static boolean begins(StoreResponse response, long offset) {
            return response.head()
                    .firstValue("Content-Range")
                    .map(range -> range.startsWith("bytes " + offset + "-"))
                    .orElse(false);
        }

        private void copy(InputStream body) throws IOException {
            byte[] buffer = new byte[1 << 17];
            try (OutputStream out = Files.newOutputStream(file, StandardOpenOption.APPEND)) {
                while (true) {
                    int n;
                    try {
                        n = body.read(buffer);
                    } catch (StoreException e) {
                        throw e;
                    } catch (IOException e) {
                        throw new StoreException(
                                Kind.UNAVAILABLE, "the connection broke while '" + object.name() + "' came", e);
                    }
                    if (n < 0) {
                        return;
                    }
                    out.write(buffer, 0, n);
                    progress.accept(n);
                }
            }
        }
    }

    /** Runs {@code attempt} again, some time later, while its failure may pass. */
    private <T> T attempted(Attempt<T> attempt) throws IOException {
        Duration wait = limits.backOff();
        long position = 0;
        for (int left = limits.attempts() - 1; ; left--) {
            try {
                return attempt.run();
            } catch (StoreException e) {
                if (e.kind() != Kind.UNAVAILABLE || left <= 0) {
                    throw e;
                }
                if (attempt.position() - position >= RESTART_BYTES) {
                    // A connection that breaks now and then brings a large object all the same.
                    position = attempt.position();
                    left = limits.attempts();
                    wait = limits.backOff();
                }
                LockSupport.parkNanos(wait.toNanos());
                wait = wait.multipliedBy(2);
            }
        }
    }

    private static StoreException failure(StoreResponse response, String what) {
        int status = response.status();
        Kind kind =
                switch (status) {
                    case 401, 403 -> Kind.DENIED;
                    case 404 -> Kind.ABSENT;
                    case 408, 429 -> Kind.UNAVAILABLE;
                    default -> status >= 500 ? Kind.UNAVAILABLE : Kind.MALFORMED;
                };
        String meaning =
                switch (kind) {
                    case DENIED -> " is refused: check the credentials, and what they allow";
                    case ABSENT -> " is not there: check the bucket and its path";
                    case UNAVAILABLE -> " cannot be had now";
                    default -> status < 400 ? " is answered with a redirect, which is not followed" : " cannot be had";
                };
        return new StoreException(kind, what + meaning + " (status " + status + ": " + response.excerpt() + ")");
    }

    @Override
    public void close() {
        http.close();
    }

    /** Counts what a store lists, before any of it is kept. Not thread-safe. */
    static final class ListingCount {
        /** Stores allow names of 1,024 bytes, which take up to three times as many where they are escaped. */
        private static final int NAME_CHARACTERS = 4096;

        /** Stores that leave out what was removed send a page with nothing on it now and then. */
        private static final int EMPTY_PAGES = 100;

        private final String text;
        private final StoreLimits limits;
        private final Set<String> begun = new HashSet<>();
        private long objects;
        private long pages;
        private long characters;
        private int emptyPages;

        /** {@code text} is the store's name in errors. */
        ListingCount(String text, StoreLimits limits) {
            this.text = text;
            this.limits = limits;
        }

        /** Counts a page. Throws {@link StoreException} LIMIT or MALFORMED for a listing without end. */
        void add(StoreProtocol.Page page) throws StoreException {
            int listed = page.objects().size() + page.folders().size();
            objects += listed;
            if (objects > limits.objects()) {
                throw tooMuch(limits.objects() + " objects");
            }
            // Stores send a thousand objects on a page; a tenth of as many pages as objects is far more than that.
            if (++pages > limits.objects() / 10 + EMPTY_PAGES) {
                throw tooMuch((pages - 1) + " pages of objects");
            }
            for (StoredObject object : page.objects()) {
                addText("name", object.name());
                addText("ETag", object.etag());
            }
            for (String folder : page.folders()) {
                addText("name", folder);
            }
            addText("mark of the next page", page.next());
            emptyPages = listed == 0 ? emptyPages + 1 : 0;
            if (emptyPages > EMPTY_PAGES) {
                throw new StoreException(
                        Kind.MALFORMED,
                        text + " sends more than " + EMPTY_PAGES + " pages in a row with no object on them");
            }
            if (!page.next().isEmpty() && !begun.add(page.next())) {
                throw new StoreException(Kind.MALFORMED, text + " lists the same page of its objects again");
            }
        }

        private void addText(String what, String value) throws StoreException {
            if (value.length() > NAME_CHARACTERS) {
                throw new StoreException(
                        Kind.MALFORMED,
                        text + " lists a " + what + " of " + value.length() + " characters; expected at most "
                                + NAME_CHARACTERS);
            }
            characters += value.length();
            if (characters > limits.listingCharacters()) {
                throw tooMuch("objects whose names have " + limits.listingCharacters() + " characters together");
            }
        }

        private StoreException tooMuch(String what) {
            return new StoreException(
                    Kind.LIMIT,
                    text + " holds more than " + what
                            + ", which is no model repository: name the folder that holds the models");
        }
    }
}
