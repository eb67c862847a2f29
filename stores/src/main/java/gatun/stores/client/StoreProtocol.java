// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.util.List;

/** How a kind of store is asked. Implementations are safe for any thread. */
public interface StoreProtocol {
    /**
     * A page of a listing: {@code folders}, ending with slashes, only of one level; an empty {@code next} is the end.
     */
    record Page(List<StoredObject> objects, List<String> folders, String next) {}

    /**
     * Asks for a page of a listing.
     *
     * @param prefix how names begin
     * @param deep whether objects below the next slash are listed, and not only named as folders
     * @param page where it begins; empty for the first
     * @throws StoreException when there are no credentials to be had
     */
    HttpRequest.Builder list(String prefix, boolean deep, String page) throws IOException;

    /** Reads a page. */
    Page read(InputStream body) throws IOException;

    /** Asks for the object as it was listed, from byte {@code offset} on. */
    HttpRequest.Builder get(StoredObject object, long offset) throws IOException;

    /** The checksums of the whole object that a response to {@link #get} holds. */
    List<Checksum> checksums(StoredObject object, HttpHeaders head);

    /** Learns from a response that refused. True when it is worth to ask again at once. */
    default boolean refused(int status, HttpHeaders head) {
        return false;
    }
}
