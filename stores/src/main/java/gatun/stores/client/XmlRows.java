// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Reads the lists that stores write in XML: elements of rows, with texts in them. */
public final class XmlRows {
    private static final int DEPTH_LIMIT = 16;

    /** Stores write up to 5,000 on a page. */
    private static final int ROW_LIMIT = 10_000;

    /** Azure writes about thirty for each blob. */
    private static final int FIELD_LIMIT = 64;

    /** A name of 1,024 bytes, each escaped, has 3,072 characters. */
    private static final int TEXT_LIMIT = 8192;

    private XmlRows() {}

    /**
     * Reads a document, row by row.
     *
     * @param rows the names of the elements that are rows, each with what takes the texts in it by their elements' names
     * @return the texts that are in no row, by their elements' names
     * @throws StoreException MALFORMED when it is no such document
     */
    public static Map<String, String> read(InputStream document, Map<String, Consumer<Map<String, String>>> rows)
            throws IOException {
        XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        try {
            return read(factory.createXMLStreamReader(document), rows);
        } catch (XMLStreamException e) {
            if (e.getNestedException() instanceof IOException broken) {
                throw broken instanceof StoreException
                        ? broken
                        : new StoreException(
                                StoreException.Kind.UNAVAILABLE, "the connection broke while a listing came", broken);
            }
            throw new StoreException(
                    StoreException.Kind.MALFORMED,
                    "the store's listing is no XML that can be read (line "
                            + e.getLocation().getLineNumber() + ")",
                    e);
        }
    }

    private static Map<String, String> read(XMLStreamReader reader, Map<String, Consumer<Map<String, String>>> rows)
            throws XMLStreamException, IOException {
        Map<String, String> outside = new HashMap<>();
        Map<String, String> row = outside;
        Deque<String> open = new ArrayDeque<>();
        StringBuilder text = new StringBuilder();
        int count = 0;
        while (reader.hasNext()) {
            switch (reader.next()) {
                case XMLStreamConstants.START_ELEMENT -> {
                    String name = reader.getLocalName();
                    require(open.size(), DEPTH_LIMIT, "elements within one another");
                    open.push(name);
                    if (rows.containsKey(name)) {
                        require(count++, ROW_LIMIT, "rows on a page");
                        row = new HashMap<>();
                    }
                    text.setLength(0);
                }
                case XMLStreamConstants.CHARACTERS, XMLStreamConstants.CDATA -> {
                    require(text.length() + reader.getTextLength() - 1, TEXT_LIMIT, "characters in an element");
                    text.append(reader.getTextCharacters(), reader.getTextStart(), reader.getTextLength());
                }
                case XMLStreamConstants.END_ELEMENT -> {
                    String name = open.pop();
                    Consumer<Map<String, String>> taker = rows.get(name);
                    if (taker != null) {
                        taker.accept(row);
                        row = outside;
                    } else {
                        require(row.size(), FIELD_LIMIT, "elements in a row");
                        row.put(name, text.toString());
                    }
                    text.setLength(0);
                }
                case XMLStreamConstants.DTD ->
                    throw new StoreException(
                            StoreException.Kind.MALFORMED,
                            "the store's listing has a document type, which no store writes");
                default -> {}
            }
        }
        return outside;
    }

    private static void require(int count, int limit, String what) throws StoreException {
        if (count >= limit) {
            throw new StoreException(
                    StoreException.Kind.MALFORMED, "the store's listing has more than " + limit + " " + what);
        }
    }
}
