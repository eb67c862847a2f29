// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import com.microsoft.playwright.Browser;
import com.microsoft.playwright.BrowserContext;
import com.microsoft.playwright.BrowserType;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.Playwright;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.ReducedMotion;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * Chromium, as the machine has it, driven by Playwright. For the thread that made it. {@link #close} ends the browser.
 */
final class PageBrowser implements AutoCloseable {
    private static final List<String> NAMES = List.of("chromium", "chromium-browser", "google-chrome");

    /** Tests may be run by root, for whom Chromium has no sandbox. */
    private static final List<String> ARGUMENTS = List.of(
            "--no-sandbox",
            "--disable-dev-shm-usage",
            // A camera that sees a turning disc.
            "--use-fake-device-for-media-stream");

    private final Playwright playwright;
    private final Browser browser;

    PageBrowser() {
        playwright = Playwright.create(
                new Playwright.CreateOptions().setEnv(Map.of("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1")));
        browser = playwright
                .chromium()
                .launch(new BrowserType.LaunchOptions()
                        .setExecutablePath(chromium())
                        .setArgs(ARGUMENTS));
    }

    private static Path chromium() {
        return Arrays.stream(System.getenv("PATH").split(File.pathSeparator))
                .flatMap(folder -> NAMES.stream().map(name -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() ->
                        new AssertionError("no " + NAMES + " on the PATH; on a Debian: apt-get install chromium"));
    }

    /**
     * A tab of its own, without what other tabs know.
     *
     * @param script runs before each page's own, or is empty
     */
    Tab open(ColorScheme theme, int width, int height, String script) {
        BrowserContext context = browser.newContext(new Browser.NewContextOptions()
                .setColorScheme(theme)
                .setReducedMotion(ReducedMotion.REDUCE)
                .setViewportSize(width, height)
                .setPermissions(List.of("clipboard-read", "clipboard-write", "camera")));
        Stream.of(Tab.WATCH, script).filter(text -> !text.isEmpty()).forEach(context::addInitScript);
        Page page = context.newPage();
        page.setDefaultTimeout(10_000);
        return new Tab(page);
    }

    @Override
    public void close() {
        playwright.close();
    }
}
