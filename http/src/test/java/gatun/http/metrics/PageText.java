// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.http.json.JsonWriter;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** What is written to a page, as a text. */
final class PageText {
    private PageText() {}

    /** A whole page, for a request with that {@code Accept} header. */
    static String of(MetricsPage page, String accept) {
        JsonWriter text = new JsonWriter();
        page.write(accept, text);
        return string(text);
    }

    /** Some families. */
    static String of(TextFormat format, Consumer<PageWriter> families) {
        JsonWriter text = new JsonWriter();
        families.accept(new PageWriter(format, text));
        return string(text);
    }

    private static String string(JsonWriter text) {
        return new String(text.array(), 0, text.size(), StandardCharsets.UTF_8);
    }
}
