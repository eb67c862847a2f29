// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import com.microsoft.playwright.Page;
import java.util.ArrayList;
import java.util.List;

/**
 * How long the overview takes to draw what an event tells of so many models.
 *
 * @param rows the rows that are shown
 * @param lines the small lines in them
 * @param lastRow the text of the last one
 * @param text the times, and what the page says of the number of models
 */
record DrawingTimes(int rows, int lines, String lastRow, String text) {
    /**
     * All figures of all models change with each event, and a few states; every fifth brings other lines, of as many
     * models as the server tells of. The layout is part of the time; pictures are made between two events.
     */
    private static final String PREPARE = """
            async (models) => {
                const { OverviewView } = await import('/console/views/overview.js');
                const { render } = await import('/console/lit/lit-html.js');
                const app = {};
                const series = (points) => Object.fromEntries(
                    ['requestsPerSecond', 'failuresPerSecond', 'p50Nanos', 'p99Nanos', 'busyInstances']
                        .map((key) => [key, Array.from({ length: points }, () => Math.random() * 1e6)]));
                const reach = window.reach ??= window.fetch;
                window.fetch = async (path, options) => !String(path).includes('/trends') ? reach(path, options) : ({
                    ok: true,
                    json: async () => ({
                        endMillis: Date.now(),
                        server: { stepMillis: 1000, points: 300, series: series(300) },
                        versions: Array.from({ length: 32 }, (unused, i) => ({
                            name: `model_${String(i).padStart(3, '0')}`, version: '1', points: 60, series: series(60) })),
                    }),
                });
                const view = new OverviewView(app);
                window.drawing?.main.remove();
                const main = document.createElement('main');
                document.getElementById('app').hidden = true;
                document.body.append(main);
                const model = (i, at) => ({
                    name: `model_${String(i).padStart(3, '0')}`, version: '1', state: i % 50 === at % 50 ? 'LOADING' : 'READY',
                    engine: 'onnxruntime', instances: 2, busyInstances: (i + at) % 3, requestsPerSecond: (i * 7 + at * 13) % 500,
                    failuresPerSecond: (i + at) % 9 ? 0 : 1, p50Nanos: 1e5 + ((i + at) % 97) * 1e4, p99Nanos: 1e6 + ((i + at) % 89) * 1e5,
                    pending: (i + at) % 17, meanBatch: 1 + ((i + at) % 31) / 10, memoryBytes: 1e6 * (1 + ((i + at) % 40)),
                });
                window.drawing = {
                    main,
                    make: (at) => {
                        app.overview = { atMillis: at * 1000, models: Array.from({ length: models }, (unused, i) => model(i, at)),
                            totals: { requestsPerSecond: at }, alerts: [] };
                    },
                    draw: async () => {
                        const start = performance.now();
                        view.overview(app.overview);
                        render(view.render(), main);
                        const script = performance.now() - start;
                        main.getBoundingClientRect();
                        const whole = performance.now() - start;
                        await new Promise(requestAnimationFrame);
                        await new Promise((done) => setTimeout(done));
                        return [script, whole];
                    },
                };
            }
            """;

    private static final String SHOWN = """
            () => {
                const { main } = window.drawing;
                const rows = main.querySelectorAll('tbody tr');
                return [rows.length, rows[rows.length - 1].textContent, main.querySelector('.pages')?.textContent ?? '',
                    main.querySelectorAll('.trend').length];
            }
            """;

    static DrawingTimes of(Tab tab, int models, int events) {
        Page page = tab.page();
        page.evaluate(PREPARE, models);
        Tab.WorkWatch work = tab.watchWork();
        List<Double> script = new ArrayList<>();
        List<Double> whole = new ArrayList<>();
        List<Double> worked = new ArrayList<>();
        for (int at = 0; at <= events; at++) {
            page.evaluate("at => window.drawing.make(at)", at);
            double before = work.seconds();
            List<?> took = (List<?>) page.evaluate("() => window.drawing.draw()");
            double after = work.seconds();
            if (at > 0) { // The first makes the rows.
                script.add(number(took.get(0)));
                whole.add(number(took.get(1)));
                worked.add((after - before) * 1000);
            }
        }
        List<?> shown = (List<?>) page.evaluate(SHOWN);
        String text =
                """
                %d models, %d events, milliseconds for an event: median, 99th percentile, longest
                script: %s
                script, style and layout: %s
                processor's time of the page's thread, painting included: %s
                %s
                """.formatted(models, events, quantiles(script), quantiles(whole), quantiles(worked), shown.get(2));
        return new DrawingTimes(
                ((Number) shown.get(0)).intValue(), ((Number) shown.get(3)).intValue(), (String) shown.get(1), text);
    }

    private static String quantiles(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        return "%.1f %.1f %.1f"
                .formatted(
                        sorted.get(sorted.size() / 2),
                        sorted.get((int) Math.ceil(sorted.size() * 0.99) - 1),
                        sorted.getLast());
    }

    private static double number(Object value) {
        return ((Number) value).doubleValue();
    }
}
