// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.MalformedJsonException;
import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreProtocol.Page;
import gatun.stores.client.StoredObject;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Reads a page of a listing of Google Cloud Storage, one object after the other: as a tree, it could fill the heap. */
final class GoogleListing {
    /** A page is asked for with 1,000. */
    private static final int OBJECT_LIMIT = 10_000;

    private final List<StoredObject> objects = new ArrayList<>();
    private final List<String> folders = new ArrayList<>();
    private String next = "";

    private GoogleListing() {}

    static Page read(InputStream body) throws IOException {
        try (JsonReader reader = new JsonReader(new InputStreamReader(body, StandardCharsets.UTF_8))) {
            GoogleListing listing = new GoogleListing();
            listing.readPage(reader);
            return new Page(listing.objects, listing.folders, listing.next);
        } catch (MalformedJsonException | EOFException | IllegalStateException | NumberFormatException e) {
            throw new StoreException(Kind.MALFORMED, "the store's listing is none that can be read", e);
        } catch (StoreException e) {
            throw e;
        } catch (IOException e) {
            throw new StoreException(Kind.UNAVAILABLE, "the connection broke while a listing came", e);
        }
    }

    private void readPage(JsonReader reader) throws IOException {
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "items" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        objects.add(object(reader));
                        count();
                    }
                    reader.endArray();
                }
                case "prefixes" -> {
                    reader.beginArray();
                    while (reader.hasNext()) {
                        folders.add(reader.nextString());
                        count();
                    }
                    reader.endArray();
                }
                case "nextPageToken" -> next = reader.nextString();
                default -> reader.skipValue();
            }
        }
        reader.endObject();
    }

    private void count() throws StoreException {
        if (objects.size() + folders.size() > OBJECT_LIMIT) {
            throw new StoreException(
                    Kind.MALFORMED, "the store's listing has more than " + OBJECT_LIMIT + " objects on a page");
        }
    }

    private static StoredObject object(JsonReader reader) throws IOException {
        String name = "";
        String generation = "";
        long byteSize = -1;
        List<Checksum> checksums = new ArrayList<>();
        reader.beginObject();
        while (reader.hasNext()) {
            switch (reader.nextName()) {
                case "name" -> name = reader.nextString();
                case "size" -> byteSize = reader.nextLong();
                case "generation" -> generation = reader.nextString();
                case "md5Hash" -> addChecksum(Algorithm.MD5, reader.nextString(), checksums);
                case "crc32c" -> addChecksum(Algorithm.CRC32C, reader.nextString(), checksums);
                default -> reader.skipValue();
            }
        }
        reader.endObject();
        if (byteSize < 0 || !generation.matches("[0-9]{1,20}")) {
            throw new StoreException(Kind.MALFORMED, "the store lists an object without a size or a generation");
        }
        return new StoredObject(name, generation, byteSize, checksums);
    }

    private static void addChecksum(Algorithm algorithm, String text, List<Checksum> checksums) throws StoreException {
        if (checksums.size() >= Algorithm.values().length) {
            throw new StoreException(Kind.MALFORMED, "the store lists an object with one checksum many times");
        }
        Checksum.ofBase64(algorithm, text).ifPresent(checksums::add);
    }
}
