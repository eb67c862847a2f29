// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.setDefaultAssertionTimeout;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import gatun.it.harness.ConsoleApi;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the console's page tells of the last minutes, of failures and of connections. One server for all tests. */
@Timeout(120)
class ConsoleChartsIT {
    private static final double ASSERTION_MILLIS = 15_000;
    private static final String WRONG = "{\"inputs\":[]}";

    /** Keeps the texts that charts draw, which are nowhere else in the page. */
    private static final String WATCH_TEXTS = """
            window.drawn = new Map();
            const fillText = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
                const texts = window.drawn.get(this.canvas) ?? new Set();
                window.drawn.set(this.canvas, texts.add(text));
                return fillText.call(this, text, ...place);
            };
            """;

    /** The texts of the chart whose label begins so: a day's times, or others. */
    private static final String TEXTS = """
            ([label, isTime]) => Array.from(window.drawn.get(document.querySelector(`.plot[aria-label^="${label}"] canvas`)) ?? [])
                .filter(text => /:/.test(text) === isTime).join(' | ')
            """;

    private static final String PLACES = """
            plots => plots.map(plot => { const { left, right, top, bottom } = plot.getBoundingClientRect();
                return [left, right, top, bottom].map(Math.round); })
            """;

    /** How often the charts ask, for so many overviews in sight, hidden, and in sight again. */
    private static final String REQUESTS = """
            async () => {
                const { OverviewCharts } = await import('/console/overview-charts.js');
                const real = window.fetch;
                const trends = await (await real('/v2/console/trends')).json();
                let asked = 0;
                window.fetch = async (path, options) => {
                    if (!String(path).includes('/trends')) {
                        return real(path, options);
                    }
                    asked++;
                    return { ok: true, json: async () => trends };
                };
                let isHidden = false;
                Object.defineProperty(document, 'hidden', { configurable: true, get: () => isHidden });
                const charts = new OverviewCharts();
                const counts = [];
                const see = async (overviews) => {
                    for (let i = 0; i < overviews; i++) {
                        charts.overview();
                        await new Promise((done) => setTimeout(done)); // Until the answer is taken.
                    }
                    counts.push(asked);
                };
                await see(11);
                isHidden = true;
                await see(40);
                isHidden = false;
                await see(1);
                charts.close();
                window.fetch = real;
                delete document.hidden;
                return counts;
            }
            """;

    private static ServerProcess server;
    private static HttpApi http;
    private static PageBrowser browser;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(ServerProcess.exampleModels());
        http = new HttpApi(server);
        browser = new PageBrowser();
        setDefaultAssertionTimeout(ASSERTION_MILLIS);
        ConsoleApi console = new ConsoleApi(http);
        console.overview(); // Single requests are watched from then on.
        for (int i = 0; i < 20; i++) {
            http.post("/v2/models/simple/infer", SimpleModel.json());
        }
        for (int i = 0; i < 3; i++) {
            assertThat(http.post("/v2/models/simple/infer", WRONG).statusCode()).isEqualTo(400);
        }
        Await.until("the second's end", () -> !console.json("/v2/console/trends")
                .getAsJsonArray("versions")
                .isEmpty());
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (server != null) {
            http.close();
            server.close();
        }
    }

    private static Tab open(String view, String script) {
        Tab tab = browser.open(ColorScheme.LIGHT, 1280, 800, script);
        tab.page().navigate(server.http("/" + view).toString());
        return tab;
    }

    private static Locator panel(Tab tab, String name) {
        return tab.page()
                .getByRole(
                        AriaRole.REGION,
                        new Page.GetByRoleOptions().setName(name).setExact(true))
                .first();
    }

    private static Locator row(Tab tab, String name) {
        return tab.page().getByRole(AriaRole.ROW).filter(new Locator.FilterOptions().setHas(tab.link(name)));
    }

    @Test
    void shouldShowTheServerAndItsBusyVersionsOnTheFirstPage() {
        try (Tab tab = open("#/", "")) {
            Locator charts = panel(tab, "The last 5 min");
            assertThat(charts.locator("figcaption")).containsText(new String[] {"Rate", "Latency", "Busy instances"});
            assertThat(charts.locator(".plot canvas")).hasCount(3);
            assertThat(row(tab, "simple").locator(".trend .spark")).hasCount(4);
            assertThat(row(tab, "simple").locator("[data-label='Requests/s'] .spark"))
                    .hasAttribute("d", Pattern.compile("M\\d+,\\d+\\.\\d.*"));
            assertThat(row(tab, "softmax").locator(".trend")).hasCount(0);
            assertThat(tab.scrollsSideways()).isFalse();
        }
    }

    @Test
    void shouldKeepTheRangeThatIsChosen() {
        try (Tab tab = open("#/", "")) {
            assertThat(row(tab, "simple").locator(".trend")).hasCount(4);
            tab.page()
                    .waitForResponse(
                            response -> response.url().endsWith("/v2/console/trends?minutes=60") && response.ok(),
                            () -> tab.button("1 h").click());
            assertThat(panel(tab, "The last 1 h")).isVisible();
            tab.page().reload();
            assertThat(panel(tab, "The last 1 h")).isVisible();
            assertThat(tab.button("1 h")).hasAttribute("aria-pressed", "true");
            tab.page().navigate(server.http("/#/models/simple/1").toString());
            assertThat(panel(tab, "The last 1 h")).isVisible();
        }
    }

    @Test
    void shouldAskOnceForAllChartsAndNotAtAllWhileNobodyLooks() {
        try (Tab tab = open("#/connections", "")) {
            assertThat(tab.page().locator(".link-state")).containsText("Ready");
            assertThat(tab.page().evaluate(REQUESTS)).isEqualTo(List.of(3, 3, 4));
        }
    }

    @Test
    void shouldGiveEmptyChartsTheSameTimesAndAScaleThatSaysSomething() {
        try (Tab tab = open("#/models/softmax/1", WATCH_TEXTS)) {
            assertThat(tab.page().locator(".plot canvas")).hasCount(4);
            assertThat(panel(tab, "The last 5 min")).isVisible();
            // The first event has come, by which the charts know the time.
            assertThat(tab.page().locator(".chart").first()).containsText("Requests/s 0");
            assertThat(texts(tab, "Latency", false)).isEqualTo("0 ns | 500 µs | 1.00 ms");
            assertThat(texts(tab, "Rate", false)).isEqualTo("0 | 0.50 | 1.0");
            assertThat(texts(tab, "Rate", true)).isNotEmpty();
            for (String chart : List.of("Latency", "Batches", "Load")) {
                assertThat(texts(tab, chart, true)).as(chart).isEqualTo(texts(tab, "Rate", true));
            }
        }
    }

    private static String texts(Tab tab, String chart, boolean times) {
        return (String) tab.page().evaluate(TEXTS, List.of(chart, times));
    }

    @Test
    void shouldAlignChartsBesideEachOtherHoweverLongTheirLegendsAre() {
        try (Tab tab = open("#/models/simple/1", "")) {
            assertThat(tab.page().locator(".plot canvas")).hasCount(4);
            List<?> places = (List<?>) tab.page().locator(".plot").evaluateAll(PLACES);
            assertThat(edge(places, 0, 2)).isEqualTo(edge(places, 1, 2));
            assertThat(edge(places, 2, 2)).isEqualTo(edge(places, 3, 2));
            assertThat(edge(places, 0, 1)).isEqualTo(edge(places, 2, 1));
            assertThat(edge(places, 1, 0)).isEqualTo(edge(places, 3, 0));
        }
    }

    private static int edge(List<?> places, int plot, int edge) {
        return ((Number) ((List<?>) places.get(plot)).get(edge)).intValue();
    }

    @Test
    void shouldShowWhyWithoutScrolling() {
        try (Tab tab = open("#/models/simple/1", "")) {
            Locator table = tab.page().getByLabel("What was completed");
            assertThat(table.locator("tbody tr").first()).isVisible();
            assertThat(table.evaluate("region => region.scrollWidth - region.clientWidth"))
                    .isEqualTo(0);
            assertThat(table.locator("tbody td:last-child").first()).hasText(Pattern.compile("\\w+"));
        }
    }

    @Test
    void shouldShowTheSameFailureOnceWithItsCount() {
        try (Tab tab = open("#/models/simple/1", "")) {
            Locator failures = panel(tab, "Failures").locator("li");
            assertThat(failures).hasCount(1);
            assertThat(failures)
                    .containsText(
                            Pattern.compile("3 times, the last \\d\\d:\\d\\d:\\d\\d · .* ago · INVALID_ARGUMENT"));
        }
    }

    @Test
    void shouldNotCountThoseWhoLook() {
        try (Tab tab = open("#/connections", "");
                Tab other = open("#/", "")) {
            assertThat(other.page().locator(".link-state")).containsText("Ready");
            assertThat(tab.page().locator(".tile").last())
                    .containsText(Pattern.compile("Viewers of this page\\s*[2-9]"));
            // The test's own requests go over one connection.
            Locator busy = panel(tab, "Who is connected")
                    .locator("tbody tr")
                    .filter(new Locator.FilterOptions()
                            .setHas(tab.page()
                                    .locator(
                                            "[data-label='Requests']",
                                            new Page.LocatorOptions().setHasText(Pattern.compile("[1-9]")))));
            assertThat(busy).hasCount(1);
            assertThat(busy.locator("[data-label='Requests']")).hasText("23");
        }
    }
}
