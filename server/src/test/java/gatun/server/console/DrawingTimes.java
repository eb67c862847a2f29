// SPDX-License-Identifier: Apache-2.0
package gatun.server.console;

import java.util.List;
import java.util.Map;

/**
 * How long the overview takes to draw what an event tells of so many models.
 *
 * @param rows the rows that are shown
 * @param lastRow the text of the last one
 * @param text the times, and what the page says of the number of models
 */
record DrawingTimes(int rows, String lastRow, String text) {
    private static final int EVENTS = 60;

    /** All figures of all models change with each event. The layout is part of the time, pictures are made in between. */
    private static final String SCRIPT = """
            async ([models, events]) => {
                const { OverviewView } = await import('/console/views/overview.js');
                const { render } = await import('/console/lit/lit-html.js');
                const app = {};
                const view = new OverviewView(app);
                const main = document.createElement('main');
                document.getElementById('app').hidden = true;
                document.body.append(main);
                const model = (i, at) => ({
                    name: `model_${String(i).padStart(3, '0')}`, version: '1', state: i % 50 === at % 50 ? 'LOADING' : 'READY',
                    engine: 'onnxruntime', instances: 2, busyInstances: (i + at) % 3, requestsPerSecond: (i * 7 + at * 13) % 500,
                    failuresPerSecond: (i + at) % 9 ? 0 : 1, p50Nanos: 1e5 + ((i + at) % 97) * 1e4, p99Nanos: 1e6 + ((i + at) % 89) * 1e5,
                    pending: (i + at) % 17, meanBatch: 1 + ((i + at) % 31) / 10, memoryBytes: 1e6 * (1 + ((i + at) % 40)),
                });
                const millis = [];
                const script = [];
                for (let at = 0; at < events; at++) {
                    app.overview = { atMillis: at * 1000, models: Array.from({ length: models }, (unused, i) => model(i, at)),
                        totals: { requestsPerSecond: at }, alerts: [] };
                    const start = performance.now();
                    view.overview(app.overview);
                    render(view.render(), main);
                    script.push(performance.now() - start);
                    main.getBoundingClientRect();
                    millis.push(performance.now() - start);
                    await new Promise(requestAnimationFrame);
                }
                const rows = main.querySelectorAll('tbody tr');
                return { first: millis[0], others: millis.slice(1).sort((a, b) => a - b), script: script.sort((a, b) => a - b), rows: rows.length,
                    lastRow: rows[rows.length - 1].textContent, pages: main.querySelector('.pages')?.textContent ?? '' };
            }
            """;

    static DrawingTimes of(Tab tab, int models) {
        Tab.WorkWatch work = tab.watchWork();
        Map<?, ?> found = (Map<?, ?>) tab.page().evaluate(SCRIPT, List.of(models, EVENTS));
        double worked = work.seconds() * 1000 / EVENTS;
        List<?> others = (List<?>) found.get("others");
        String text = """
                %d models, %d events, milliseconds for an event
                script, style and layout: %.1f (median), %.1f (longest), %.1f (first)
                of that script: %.1f (median)
                processor's time of the page's thread, painting and the making of the event included: %.1f
                %s
                """.formatted(
                        models,
                        EVENTS,
                        middle(found.get("others")),
                        number(others.getLast()),
                        number(found.get("first")),
                        middle(found.get("script")),
                        worked,
                        found.get("pages"));
        return new DrawingTimes(((Number) found.get("rows")).intValue(), (String) found.get("lastRow"), text);
    }

    private static double middle(Object sorted) {
        List<?> values = (List<?>) sorted;
        return number(values.get(values.size() / 2));
    }

    private static double number(Object value) {
        return ((Number) value).doubleValue();
    }
}
