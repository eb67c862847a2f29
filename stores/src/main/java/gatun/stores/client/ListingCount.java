// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import gatun.stores.client.StoreException.Kind;
import java.util.HashSet;
import java.util.Set;

/** Counts what a store lists, before any of it is kept. Not thread-safe. */
final class ListingCount {
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

    /** @param text what errors call the store */
    ListingCount(String text, StoreLimits limits) {
        this.text = text;
        this.limits = limits;
    }

    /**
     * Counts a page.
     *
     * @throws StoreException LIMIT when the listing is larger than that of a model repository, MALFORMED when it has no
     *     end
     */
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
