// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

/** Texts of clients and engines in events: only so much of them. */
final class EventText {
    /** The most characters of a text that an event keeps. */
    static final int LIMIT = 256;

    private EventText() {}

    /** {@code text}, or its beginning. */
    static String cut(String text) {
        return text.length() <= LIMIT ? text : text.substring(0, LIMIT) + "...";
    }
}
