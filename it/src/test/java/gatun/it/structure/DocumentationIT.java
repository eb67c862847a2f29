// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The documentation names only what there is: tests that prove a row, and files that it links to. */
class DocumentationIT {
    private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*[a-z0-9](?:Test|IT))`");
    private static final Pattern LINK = Pattern.compile("]\\((?!https?:|mailto:|#)([^)#]+)[^)]*\\)");

    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();

    @Test
    void shouldNameTestsThatExist() throws IOException {
        Set<String> tests;
        try (Stream<Path> files = Files.walk(ROOT)) {
            tests = files.filter(file -> file.toString().contains("/src/test/java/"))
                    .map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .map(name -> name.substring(0, name.length() - ".java".length()))
                    .collect(Collectors.toSet());
        }
        List<String> named = matches(TEST).stream().map(match -> match.text).toList();
        assertThat(named).contains("PredictTest", "CheckIT");
        assertThat(tests).containsAll(named);
    }

    @Test
    void shouldLinkToFilesThatExist() throws IOException {
        List<Match> links = matches(LINK);
        assertThat(links).isNotEmpty();
        assertThat(links).allSatisfy(link -> assertThat(link.page.resolveSibling(link.text))
                .as("%s", link.page)
                .exists());
    }

    private record Match(Path page, String text) {}

    private static List<Match> matches(Pattern pattern) throws IOException {
        List<Match> found = new ArrayList<>();
        List<Path> pages;
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"));
                Stream<Path> root = Files.list(ROOT)) {
            pages = Stream.concat(docs, root)
                    .filter(file -> file.toString().endsWith(".md"))
                    .toList();
        }
        for (Path page : pages) {
            Matcher matcher = pattern.matcher(Files.readString(page));
            while (matcher.find()) {
                found.add(new Match(page, matcher.group(1)));
            }
        }
        return found;
    }
}
