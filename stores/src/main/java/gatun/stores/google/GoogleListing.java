// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import com.fasterxml.jackson.core.JsonParseException;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import gatun.stores.client.Checksum;
import gatun.stores.client.Checksum.Algorithm;
import gatun.stores.client.JsonTree;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreProtocol.Page;
import gatun.stores.client.StoredObject;
import java.io.IOException;
import java.io.InputStream;
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
        try (JsonParser reader = JsonTree.parser(body)) {
            GoogleListing listing = new GoogleListing();
            listing.readPage(reader);
            return new Page(listing.objects, listing.folders, listing.next);
        } catch (JsonProcessingException | NumberFormatException e) {
            throw new StoreException(Kind.MALFORMED, "the store's listing is none that can be read", e);
        } catch (StoreException e) {
            throw e;
        } catch (IOException e) {
            throw new StoreException(Kind.UNAVAILABLE, "the connection broke while a listing came", e);
        }
    }

    private void readPage(JsonParser reader) throws IOException {
        require(reader, JsonToken.START_OBJECT, reader.nextToken());
        while (reader.nextToken() != JsonToken.END_OBJECT) {
            String name = reader.currentName();
            JsonToken value = reader.nextToken();
            switch (name) {
                case "items" -> {
                    require(reader, JsonToken.START_ARRAY, value);
                    while (reader.nextToken() != JsonToken.END_ARRAY) {
                        objects.add(object(reader));
                        count();
                    }
                }
                case "prefixes" -> {
                    require(reader, JsonToken.START_ARRAY, value);
                    while (reader.nextToken() != JsonToken.END_ARRAY) {
                        folders.add(text(reader));
                        count();
                    }
                }
                case "nextPageToken" -> next = text(reader);
                default -> reader.skipChildren();
            }
        }
    }

    private static void require(JsonParser reader, JsonToken expected, JsonToken token) throws IOException {
        if (token != expected) {
            throw new JsonParseException(reader, "expected " + expected);
        }
    }

    private static String text(JsonParser reader) throws IOException {
        if (!reader.currentToken().isScalarValue() || reader.currentToken() == JsonToken.VALUE_NULL) {
            throw new JsonParseException(reader, "expected a text");
        }
        return reader.getText();
    }

    private void count() throws StoreException {
        if (objects.size() + folders.size() > OBJECT_LIMIT) {
            throw new StoreException(
                    Kind.MALFORMED, "the store's listing has more than " + OBJECT_LIMIT + " objects on a page");
        }
    }

    private static StoredObject object(JsonParser reader) throws IOException {
        String name = "";
        String generation = "";
        long byteSize = -1;
        List<Checksum> checksums = new ArrayList<>();
        require(reader, JsonToken.START_OBJECT, reader.currentToken());
        while (reader.nextToken() != JsonToken.END_OBJECT) {
            String member = reader.currentName();
            reader.nextToken();
            switch (member) {
                case "name" -> name = text(reader);
                case "size" -> byteSize = Long.parseLong(text(reader));
                case "generation" -> generation = text(reader);
                case "md5Hash" -> addChecksum(Algorithm.MD5, text(reader), checksums);
                case "crc32c" -> addChecksum(Algorithm.CRC32C, text(reader), checksums);
                default -> reader.skipChildren();
            }
        }
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
