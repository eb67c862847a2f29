// SPDX-License-Identifier: Apache-2.0
package gatun.server.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class TextTableTest {
    private static final List<String> TITLES = List.of("Model", "State", "Served");

    private static String within(int columns, String name) {
        return TextTable.ascii()
                .within(columns)
                .render(TITLES, Set.of(2), List.of(List.of(name, "ready", "12"), List.of("digits", "ready", "3")));
    }

    @Test
    void shouldContinueALongNameBehindASeparator() {
        assertThat(within(40, "sentiment_of_short_texts_v2")).isEqualTo("""
                        +---------------------+-------+--------+
                        | Model               | State | Served |
                        +---------------------+-------+--------+
                        | sentiment_of_short_ | ready |     12 |
                        | texts_v2            |       |        |
                        | digits              | ready |      3 |
                        +---------------------+-------+--------+
                        """);
    }

    @Test
    void shouldCutANameWithoutSeparatorsWhereItMust() {
        String name = "a".repeat(18) + "\uD83D\uDE00" + "b".repeat(30);
        String table = within(40, name);
        assertThat(table.lines()).allMatch(line -> line.length() <= 40);
        assertThat(table).contains("| " + "a".repeat(18) + "  | ready |     12 |\n", "| \uD83D\uDE00" + "b".repeat(17));
    }

    @Test
    void shouldBeAsWideAsItsCellsWhereNothingLimitsIt() {
        String name = "sentiment_of_short_texts_v2";
        assertThat(TextTable.ascii().render(TITLES, Set.of(2), List.of(List.of(name, "ready", "12"))))
                .contains("| " + name + " | ready |     12 |\n");
    }

    @Test
    void shouldLeaveRoomForANameOnTheNarrowestScreen() {
        assertThat(within(10, "sentiment_of_short_texts_v2")).contains("| sentiment_   | ready |");
    }
}
