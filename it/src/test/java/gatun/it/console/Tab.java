// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.microsoft.playwright.CDPSession;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Mouse;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * A tab of a browser. {@link #close} fails the test if anything went wrong in it that the test does not expect: an
 * exception, an error or a warning of the browser, or a breach of the page's own content security policy.
 */
final class Tab implements AutoCloseable {
    /** Tells of breaches of the policy. */
    static final String WATCH = "addEventListener('securitypolicyviolation',"
            + " e => console.error('policy: ' + e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sourceFile))";

    private static final String RESOURCE = "Failed to load resource";

    private final Page page;
    private final List<String> problems = new ArrayList<>();
    private boolean failuresExpected;

    Tab(Page page) {
        this.page = page;
        page.onPageError(problems::add);
        page.onConsoleMessage(message -> {
            if (message.type().equals("error") || message.type().equals("warning")) {
                problems.add(message.text() + " " + message.location());
            }
        });
    }

    Page page() {
        return page;
    }

    /** Requests of this tab may fail, which the browser tells in its log. */
    Tab expectFailures() {
        failuresExpected = true;
        return this;
    }

    Locator button(String name) {
        return page.getByRole(
                AriaRole.BUTTON, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    Locator link(String name) {
        return page.getByRole(
                AriaRole.LINK, new Page.GetByRoleOptions().setName(name).setExact(true));
    }

    Locator heading(String name) {
        return page.getByRole(AriaRole.HEADING, new Page.GetByRoleOptions().setName(name));
    }

    /** Draws a line through points of an element, given as parts of its width and height. */
    void draw(Locator paper, double... points) {
        paper.scrollIntoViewIfNeeded();
        var box = paper.boundingBox();
        for (int i = 0; i < points.length; i += 2) {
            double x = box.x + points[i] * box.width;
            double y = box.y + points[i + 1] * box.height;
            page.mouse().move(x, y, new Mouse.MoveOptions().setSteps(i == 0 ? 1 : 6));
            if (i == 0) {
                page.mouse().down();
            }
        }
        page.mouse().up();
    }

    /**
     * What axe has against the page as it is shown, a line for each finding.
     *
     * @param rules names of rules, or of groups of them
     */
    List<String> axe(List<String> rules) {
        if (!(boolean) page.evaluate("'axe' in window")) {
            page.evaluate(axeScript());
        }
        Object found = page.evaluate(
                "names => axe.run(document, {runOnly: names, resultTypes: ['violations']}).then(all => all.violations.flatMap(one =>"
                        + " one.nodes.map(node => one.id + ': ' + node.html.slice(0, 200) + ' ' + node.failureSummary)))",
                rules);
        return ((List<?>) found).stream().map(Object::toString).toList();
    }

    private static String axeScript() {
        try (InputStream script = Tab.class.getResourceAsStream("/axe.min.js")) {
            return new String(script.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** A watch of the time that the page's main thread computes, with layout, style and painting. */
    WorkWatch watchWork() {
        return new WorkWatch(page.context().newCDPSession(page));
    }

    /** The processor's time of a page's main thread. */
    static final class WorkWatch {
        private final CDPSession session;
        private final double start;

        private WorkWatch(CDPSession session) {
            this.session = session;
            JsonObject ofThread = new JsonObject();
            ofThread.addProperty("timeDomain", "threadTicks");
            session.send("Performance.enable", ofThread);
            start = taskSeconds();
        }

        /** Seconds since the watch was made. */
        double seconds() {
            return taskSeconds() - start;
        }

        private double taskSeconds() {
            var metrics = session.send("Performance.getMetrics").getAsJsonArray("metrics");
            for (JsonElement metric : metrics) {
                JsonObject named = metric.getAsJsonObject();
                if (named.get("name").getAsString().equals("TaskDuration")) {
                    return named.get("value").getAsDouble();
                }
            }
            throw new AssertionError("no TaskDuration in " + metrics);
        }
    }

    /** Whether the page is wider than its window. */
    boolean scrollsSideways() {
        return (boolean) page.evaluate("document.documentElement.scrollWidth > innerWidth");
    }

    /** The function of a module of the page, called with an argument. */
    Object call(String module, String function, Object argument) {
        return page.evaluate(
                "async ([module, name, argument]) => (await import(module))[name](argument)",
                List.of(module, function, argument));
    }

    @Override
    public void close() {
        page.context().close();
        assertThat(problems)
                .as("the browser's log")
                .filteredOn(problem -> !failuresExpected || !problem.startsWith(RESOURCE))
                .isEmpty();
    }
}
