// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.setDefaultAssertionTimeout;
import static org.assertj.core.api.Assertions.assertThat;

import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console's page in a real browser, of a real server under load. One server and one browser for all tests. */
@Timeout(120)
class ConsolePageIT {
    private static final String TOKEN = "a-token-of-the-test";

    /** What a tab knows whose user has given the token. */
    private static final String KNOWS_TOKEN =
            "sessionStorage.setItem('gatun.headers', JSON.stringify({Authorization: 'Bearer " + TOKEN + "'}))";

    /** Keeps the stream of events from the page, however often it tries by itself, until something is clicked. */
    private static final String UNTIL_CLICKED = """
            ;
            const reach = fetch;
            let clicked = false;
            addEventListener('click', () => (clicked = true), true);
            window.fetch = (path, options) => String(path).includes('/v2/console/events') && !clicked
                ? Promise.reject(new TypeError('cut off by the test')) : reach(path, options);
            """;

    private static final String HOSTILE = "z<img src=x onerror=alert(1)>";
    private static final List<String> VIEWS = List.of(
            "#/",
            "#/models/simple/1",
            "#/models/digits/1/try",
            "#/models/simple/1/requests/0",
            "#/memory",
            "#/connections");
    private static final Pattern POSITIVE = Pattern.compile("[1-9]");
    private static final String BLANK_PICTURE = "{\"image\":[" + "0,".repeat(783) + "0]}";
    private static final long LOAD_MILLIS = 20;

    /** The longest wait for what a test expects of the page. */
    private static final double ASSERTION_MILLIS = 15_000;

    /** What has a meaning in a shell, Python, Java or C, and characters of each length in UTF-8. */
    private static final String MEANINGFUL = "'\"\\\\u0041\n\t$HOME`id`$(id)%s%n??/é€😀#{a}\1";

    @TempDir
    static Path folder;

    private static ServerProcess server;
    private static HttpApi http;
    private static ScheduledExecutorService load;
    private static ScheduledFuture<?> asking;
    private static PageBrowser browser;

    @BeforeAll
    static void start() throws Exception {
        Path models = Files.createDirectories(folder.resolve("models"));
        ModelRepositoryFolder repository = new ModelRepositoryFolder(models);
        repository.simple("comes_and_goes", "instance_group [ { kind: KIND_CPU count: 1 } ]", 1);
        Files.createDirectories(models.resolve(HOSTILE).resolve("1"));
        repository.config(HOSTILE, """
                backend: "identity"
                input [ { name: "<b>IN</b>" data_type: TYPE_STRING dims: [ -1 ] } ]
                output [ { name: "<b>OUT</b>" data_type: TYPE_STRING dims: [ -1 ] } ]
                """);
        repository.simple("broken", "", 1);
        Files.writeString(models.resolve("broken/1/model.onnx"), "<script>alert(1)</script>");
        Path tokens = Files.writeString(folder.resolve("tokens"), TOKEN + "\n");
        server = ServerProcess.launch(
                        ServerProcess.exampleModels(),
                        "--model-repository=" + models,
                        "--model-control-mode=explicit",
                        "--load-model=*",
                        "--exit-on-error=false",
                        "--strict-readiness=false",
                        "--allow-client-shm",
                        "--http-token-file=console:" + tokens)
                .expectErrors();
        http = new HttpApi(server);
        load = Executors.newSingleThreadScheduledExecutor();
        asking = load.scheduleAtFixedRate(ConsolePageIT::ask, 0, LOAD_MILLIS, TimeUnit.MILLISECONDS);
        browser = new PageBrowser();
        setDefaultAssertionTimeout(ASSERTION_MILLIS);
    }

    private static void ask() {
        http.post("/v2/models/simple/infer", SimpleModel.json());
        http.post("/v2/models/simple_ensemble/infer", SimpleModel.json());
        http.post("/v2/models/digits/generate", BLANK_PICTURE);
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (load != null) {
            assertThat(asking.isDone())
                    .as("the load has ended before the tests")
                    .isFalse();
            asking.cancel(false);
            load.close();
        }
        if (server != null) {
            http.close();
            server.close();
        }
    }

    private static Tab desk(String view) {
        return open(browser.open(ColorScheme.LIGHT, 1280, 800, KNOWS_TOKEN), view);
    }

    private static Tab open(Tab tab, String view) {
        tab.page().navigate(server.http("/" + view).toString());
        return tab;
    }

    private static Locator row(Tab tab, String name) {
        return tab.page().getByRole(AriaRole.ROW).filter(new Locator.FilterOptions().setHas(tab.link(name)));
    }

    private static Locator cell(Tab tab, String name, String label) {
        return row(tab, name).locator("[data-label='" + label + "']");
    }

    private static void shows(Tab tab, String text) {
        assertThat(tab.page().locator("main")).containsText(text);
    }

    private static Locator panel(Tab tab, String name) {
        return tab.page()
                .getByRole(
                        AriaRole.REGION,
                        new Page.GetByRoleOptions().setName(name).setExact(true))
                .first();
    }

    @Test
    void shouldShowWhatModelsDoAndWhatIsWrong() {
        try (Tab tab = desk("#/")) {
            assertThat(cell(tab, "simple", "Requests/s")).hasText(POSITIVE);
            assertThat(cell(tab, "simple", "p99")).hasText(POSITIVE);
            assertThat(row(tab, "broken")).containsText("Unavailable");
            assertThat(tab.page().locator(".alert").first()).containsText("broken");
            assertThat(tab.page().locator(".link-state")).containsText("Ready");
            picture(tab, "console-overview.png");
            tab.button("Requests/s").click();
            assertThat(tab.page().locator("tbody tr").first()).containsText("simple");
            tab.page().getByLabel("Filter models").fill("ensemble ready");
            assertThat(tab.page().locator("tbody tr")).hasCount(1);
        }
    }

    @Test
    void shouldShowAModelAndItsSlowestRequestFromSocketToSocket() {
        try (Tab tab = desk("#/models/simple/1")) {
            assertThat(panel(tab, "Latency by stage and transport").locator("tbody"))
                    .containsText("http");
            assertThat(panel(tab, "Batch sizes").locator("tbody tr").first()).containsText("1");
            assertThat(panel(tab, "Inputs and outputs")).containsText("INPUT0");
            assertThat(tab.page().locator(".plot canvas")).hasCount(4);
            assertThat(tab.page().locator(".chart").first()).containsText(POSITIVE);
            panel(tab, "Slowest requests of the last hour")
                    .getByRole(AriaRole.LINK)
                    .first()
                    .click();
            assertThat(tab.heading("A request that took")).isVisible();
            assertThat(panel(tab, "From socket to socket").locator("tbody")).containsText("Inference");
            assertThat(panel(tab, "About it")).containsText("in,");
        }
    }

    @Test
    void shouldShowMemoryAndConnections() throws Exception {
        try (SharedObject object = SharedObject.create(64);
                Tab tab = desk("#/memory")) {
            http.register("of-the-page", object.key(), "0", "64");
            assertThat(tab.page().locator("tbody tr").first()).containsText("of-the-page");
            tab.link("Connections").click();
            assertThat(panel(tab, "Who is connected").locator("tbody tr").first())
                    .containsText("127.0.0.1");
            http.unregister("of-the-page");
        }
    }

    @Test
    void shouldReadADrawnDigitAndOneFromAFile() {
        try (Tab tab = desk("#/models/digits/1/try")) {
            tab.draw(tab.page().locator("canvas.paper"), 0.25, 0.25, 0.7, 0.25, 0.45, 0.8);
            tab.button("Ask the model").click();
            assertThat(tab.page().locator(".label-of")).containsText("seven");
            tab.page().getByLabel("Ask with each new picture").check();
            tab.page()
                    .locator("input[type=file]")
                    .setInputFiles(ServerProcess.root().resolve("examples/pictures/four-marker.png"));
            assertThat(tab.page().locator(".label-of")).containsText("four");
            picture(tab, "console-try.png");
        }
    }

    @Test
    void shouldTakeAPictureByTheCamera() {
        try (Tab tab = desk("#/models/digits/1/try")) {
            tab.page().getByLabel("Ask with each new picture").check();
            tab.button("Camera").click();
            assertThat(tab.page().locator("video.camera")).isVisible();
            tab.button("Take the picture").click();
            assertThat(tab.page().locator("video.camera")).isHidden();
            assertThat(tab.page().locator(".label-of")).isVisible();
            assertThat(tab.button("Camera")).isVisible();
        }
    }

    @Test
    void shouldAskModelsOfNumbersTextsSequencesAndStreams() {
        try (Tab tab = desk("#/models/simple_string/1/try")) {
            tab.button("Ask the model").click();
            shows(tab, "OUTPUT0");
            assertThat(tab.page().locator(".values").first()).containsText("32");

            open(tab, "#/models/running_sum/1/try");
            tab.page()
                    .getByLabel("Elements of INPUT", new Page.GetByLabelOptions().setExact(true))
                    .fill("40");
            tab.button("Ask the model").click();
            assertThat(tab.page().locator(".values")).containsText("40");
            tab.button("Ask the model").click();
            assertThat(tab.page().locator(".values")).containsText("80");

            open(tab, "#/models/repeat_int32/1/try");
            tab.page()
                    .getByLabel("Elements of IN", new Page.GetByLabelOptions().setExact(true))
                    .fill("7 8 9");
            tab.page()
                    .getByLabel("Elements of DELAY", new Page.GetByLabelOptions().setExact(true))
                    .fill("1 1 1");
            tab.button("Ask the model").click();
            assertThat(panel(tab, "Answer")).containsText("3 responses");
            assertThat(panel(tab, "Answer").locator("li").last()).containsText("9");

            open(tab, "#/models/identity_fp32/1/try");
            tab.page().getByLabel("Shape").fill("1000000");
            tab.button("Zeros").click();
            tab.button("Ask the model").click();
            assertThat(tab.page().locator(".values")).containsText("and 999,500 more");

            open(tab, "#/models/simple/1/try");
            tab.page().getByLabel("Elements of INPUT0").fill("1 2 x");
            tab.button("Ask the model").click();
            assertThat(tab.page().getByRole(AriaRole.ALERT)).containsText("INPUT0: There are 3 elements");
        }
    }

    @Test
    void shouldLoadUnloadAndChangeInstancesByButtons() {
        try (Tab tab = desk("#/models/comes_and_goes/1")) {
            tab.button("Instances …").click();
            tab.page().getByRole(AriaRole.SPINBUTTON).fill("3");
            tab.button("Change").click();
            assertThat(tab.page().locator(".tile").last()).containsText("Instances3");

            tab.button("Unload …").click();
            tab.button("Unload").click();
            assertThat(tab.page().locator(".title .state")).hasText("Unavailable");
            assertThat(http.get("/v2/models/comes_and_goes/ready").statusCode()).isEqualTo(400);

            tab.button("Load").click();
            assertThat(tab.page().locator(".title .state")).hasText("Ready");
            assertThat(http.get("/v2/models/comes_and_goes/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void shouldAskForATokenAndAgainIfItIsWrong() {
        try (Tab tab = open(browser.open(ColorScheme.DARK, 1280, 800, ""), "").expectFailures()) {
            Locator token = tab.page().getByLabel("Token, or the header's value");
            token.fill("wrong");
            tab.button("Continue").click();
            assertThat(tab.page().getByRole(AriaRole.ALERT)).containsText("not enough");
            tab.button("Cancel").click();
            assertThat(tab.page().locator(".banner")).isVisible();
            tab.button("Try now").click();
            token.fill(TOKEN);
            tab.button("Continue").click();
            assertThat(row(tab, "simple")).containsText("Ready");
            tab.button("Forget token").click();
            open(tab, "#/memory");
            assertThat(token).isVisible();
        }
    }

    @Test
    void shouldSayThatTheServerIsGoneAndComeBack() {
        try (Tab tab = browser.open(ColorScheme.LIGHT, 1280, 800, KNOWS_TOKEN + UNTIL_CLICKED)) {
            open(tab, "#/");
            assertThat(tab.page().locator(".banner")).containsText("The server does not answer.");
            tab.button("Try now").click();
            assertThat(row(tab, "simple")).containsText("Ready");
            assertThat(tab.page().locator(".banner")).hasCount(0);
        }
    }

    @Test
    void shouldShowHostileNamesAsText() {
        String address =
                "#/models/" + URLEncoder.encode(HOSTILE, StandardCharsets.UTF_8).replace("+", "%20") + "/1";
        try (Tab tab = desk("#/")) {
            tab.link(HOSTILE).click();
            assertThat(tab.heading(HOSTILE)).isVisible();
            assertThat(panel(tab, "Inputs and outputs")).containsText("<b>IN</b>");
            open(tab, address + "/try");
            assertThat(tab.heading("Try " + HOSTILE)).isVisible();
            tab.button("curl").click();
            assertThat(tab.page().locator(".snippet")).containsText("<b>IN</b>");
            tab.page().getByLabel("Elements of <b>IN</b>").fill("<i>text</i>");
            tab.button("Ask the model").click();
            assertThat(tab.page().locator(".values")).containsText("<i>text</i>");
            open(tab, address);
            tab.button("Unload …").click();
            tab.button("Unload").click();
            assertThat(tab.page().locator(".title .state")).hasText("Unavailable");
            tab.button("Load").click();
            assertThat(tab.page().locator(".title .state")).hasText("Ready");
            open(tab, "#/models/broken/1");
            shows(tab, "broken");
            assertThat(tab.page().locator("main img, main i, main b:not(.legend b), main script"))
                    .hasCount(0);
        }
    }

    @Test
    void shouldWriteTheSameRequestInOtherLanguages() throws Exception {
        Programs programs = new Programs(Files.createTempDirectory(folder, "programs"), "Bearer " + TOKEN);
        try (Tab tab = desk("#/models/simple/1/try")) {
            assertThat(programs.shell(written(tab, "curl"))).contains("\"data\":[2,4,6,");
            assertThat(programs.python(written(tab, "Python"))).contains("OUTPUT0 INT32 [1, 16] [2, 4, 6,");
            assertThat(programs.java(written(tab, "Java"))).contains("OUTPUT0 [2, 4, 6,");
            assertThat(written(tab, "C")).contains("CURLOPT_POSTFIELDS");
            assertThat(written(tab, "gRPC")).contains("\"int_contents\":[1,2,3,");
            tab.button("Copy").click();
            assertThat(tab.page().locator(".notice")).containsText("Copied");
            assertThat(tab.page().evaluate("navigator.clipboard.readText()")).isEqualTo(written(tab, "gRPC"));
        }
    }

    private static String written(Tab tab, String language) {
        tab.button(language).click();
        Locator chosen = tab.page().getByLabel("The request in " + language);
        assertThat(chosen).isVisible();
        return chosen.textContent();
    }

    @Test
    void shouldQuoteWhatHasAMeaningInOtherLanguages() throws Exception {
        Programs programs = new Programs(Files.createTempDirectory(folder, "quotes"), "");
        try (Tab tab = desk("#/memory")) {
            assertThat(programs.shell("printf %s " + quoted(tab, "shellQuoted")))
                    .isEqualTo(MEANINGFUL);
            assertThat(programs.python(
                            "import sys\nsys.stdout.buffer.write(" + quoted(tab, "pythonQuoted") + ".encode())"))
                    .isEqualTo(MEANINGFUL);
            assertThat(programs.java("class Ask { public static void main(String[] none) { byte[] text = "
                            + quoted(tab, "codeQuoted")
                            + ".getBytes(java.nio.charset.StandardCharsets.UTF_8);"
                            + " System.out.write(text, 0, text.length); System.out.flush(); } }"))
                    .isEqualTo(MEANINGFUL);
            assertThat(programs.c("#include <stdio.h>\nint main(void) { return fputs(" + quoted(tab, "cQuoted")
                            + ", stdout) < 0; }"))
                    .isEqualTo(MEANINGFUL);
        }
    }

    private static String quoted(Tab tab, String function) {
        return (String) tab.call("/console/snippets.js", function, MEANINGFUL);
    }

    /** The figures of docs/performance.md, which are in it/target/it/console-drawing.txt then. */
    @Test
    void shouldDrawTwoHundredModelsEachSecondAndThousandsInPages() throws Exception {
        try (Tab tab = desk("#/memory")) {
            DrawingTimes times = DrawingTimes.of(tab, 200, 100);
            assertThat(times.rows()).isEqualTo(200);
            assertThat(times.lines()).as("of the busiest versions").isEqualTo(4 * 32);
            assertThat(times.lastRow()).contains("model_199");
            Files.writeString(
                    Path.of(System.getProperty("gatun.it.folder")).resolve("console-drawing.txt"), times.text());
            DrawingTimes thousands = DrawingTimes.of(tab, 2000, 1);
            assertThat(thousands.rows()).isEqualTo(200);
            assertThat(thousands.text()).contains("1 to 200 of 2,000");
        }
    }

    @Test
    void shouldFitAPhone() {
        try (Tab tab = browser.open(ColorScheme.DARK, 360, 740, KNOWS_TOKEN)) {
            for (String view : VIEWS) {
                visit(tab, view);
                assertThat(tab.scrollsSideways()).as(view).isFalse();
            }
        }
    }

    @Test
    void shouldBeAccessibleInBothThemes() {
        try (Tab tab = browser.open(ColorScheme.LIGHT, 1280, 800, KNOWS_TOKEN)) {
            for (String view : VIEWS) {
                visit(tab, view);
                assertThat(tab.axe(List.of("wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice")))
                        .as(view)
                        .isEmpty();
                tab.button("Dark theme").click();
                assertThat(tab.button("Light theme")).isVisible();
                assertThat(tab.axe(List.of("color-contrast")))
                        .as(view + " in the dark")
                        .isEmpty();
                tab.button("Light theme").click();
            }
        }
    }

    /** Waits for what the view loads. */
    private static void visit(Tab tab, String view) {
        String shown = view;
        if (view.endsWith("/requests/0")) {
            visit(tab, "#/models/simple/1");
            Locator slowest = panel(tab, "Slowest requests of the last hour")
                    .getByRole(AriaRole.LINK)
                    .first();
            shown = slowest.getAttribute("href");
        }
        open(tab, shown);
        assertThat(tab.page().locator(".link-state")).containsText("Ready");
        assertThat(tab.page().locator(".empty", new Page.LocatorOptions().setHasText("…")))
                .hasCount(0);
    }

    private static void picture(Tab tab, String name) {
        tab.page()
                .screenshot(new Page.ScreenshotOptions()
                        .setPath(Path.of(System.getProperty("gatun.it.folder")).resolve(name)));
    }
}
