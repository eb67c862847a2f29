// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.RepositoryModel;
import gatun.server.text.SafeText;
import gatun.wire.inference.ModelStatistics;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Consumer;
import org.jline.terminal.Attributes;
import org.jline.terminal.Size;
import org.jline.terminal.Terminal;
import org.jline.terminal.TerminalBuilder;
import org.jline.utils.NonBlockingReader;
import org.jspecify.annotations.Nullable;

/** Shows a server's models: once as a plain table, or in a terminal until somebody quits. For one thread. */
public final class Top implements AutoCloseable {
    private static final int PLAIN_WIDTH = 160;
    private static final long KEY_WAIT_MILLIS = 100;
    private static final int ESCAPE = 27;
    private static final int INTERRUPT = 3;

    private static final String ENTER_SCREEN = "\033[?1049h\033[?25l";
    private static final String LEAVE_SCREEN = "\033[?25h\033[?1049l";

    private final String url;
    private final Duration interval;
    private final @Nullable MetricsReader metrics;
    private final ServerPoll poll;

    /** {@code url} is for people. {@code metrics} is empty where they are not read. {@code limit} is for one answer. */
    public Top(GatunClient client, String url, Optional<URI> metrics, Duration interval, Duration limit) {
        this.url = url;
        this.interval = interval;
        this.metrics = metrics.map(page -> new MetricsReader(page, limit)).orElse(null);
        this.poll = new ServerPoll(client, this.metrics);
    }

    /** Prints what happens in an interval. Throws {@link ClientException} when the server does not list its models. */
    public void printOnce(PrintWriter out) throws InterruptedException {
        Sample before = poll.sample();
        Thread.sleep(interval);
        Sample present = poll.sample();
        List<ModelLine> lines = ModelLine.between(before, present);
        TopPage.head(url, lines, present, PLAIN_WIDTH).forEach(out::println);
        out.println(TopPage.titles(PLAIN_WIDTH).stripTrailing());
        for (ModelLine line : lines) {
            out.println(TopPage.line(line, PLAIN_WIDTH));
        }
        for (ModelLine line : lines) {
            Sample.Model model = line.model();
            if (!model.reason().isEmpty()) {
                out.println(model.key().model() + " " + model.key().version() + ": " + model.reason());
            }
        }
        out.flush();
    }

    /** Shows the server until q is pressed. Throws {@link IOException} without a usable terminal. */
    public void show() throws IOException {
        try (Terminal terminal = terminal()) {
            Attributes before = terminal.enterRawMode();
            // Raw mode leaves Ctrl-C a signal, which would end the process in the middle of a screen.
            Attributes raw = terminal.getAttributes();
            raw.setLocalFlag(Attributes.LocalFlag.ISIG, false);
            terminal.setAttributes(raw);
            terminal.writer().print(ENTER_SCREEN);
            try {
                show(terminal);
            } finally {
                terminal.writer().print(LEAVE_SCREEN);
                terminal.flush();
                terminal.setAttributes(before);
            }
        }
    }

    private static Terminal terminal() throws IOException {
        try {
            return TerminalBuilder.builder()
                    .system(true)
                    .provider("ffm")
                    .dumb(false)
                    .nativeSignals(true)
                    .build();
        } catch (IllegalStateException e) {
            throw new IOException(e.getMessage(), e); // what the library throws where nothing works
        }
    }

    private void show(Terminal terminal) throws IOException {
        TopState state = new TopState(url);
        BlockingQueue<Consumer<TopState>> news = new LinkedBlockingQueue<>();
        Thread poller = Thread.ofVirtual().name("top-poll").start(() -> poll(news));
        try {
            NonBlockingReader keys = terminal.reader();
            String shown = "";
            while (true) {
                for (Consumer<TopState> next = news.poll(); next != null; next = news.poll()) {
                    next.accept(state);
                }
                Size size = terminal.getSize();
                String screen = draw(state.screen(size.getColumns(), size.getRows()));
                if (!screen.equals(shown)) {
                    terminal.writer().print(screen);
                    terminal.flush();
                    shown = screen;
                }
                int key = keys.read(KEY_WAIT_MILLIS);
                if (key == NonBlockingReader.EOF || !apply(key, keys, state)) {
                    return;
                }
            }
        } finally {
            poller.interrupt();
        }
    }

    /** Executes the command of a key; false for the end. */
    private static boolean apply(int key, NonBlockingReader keys, TopState state) throws IOException {
        switch (key) {
            case 'q', 'Q', INTERRUPT -> {
                return false;
            }
            case 'j' -> state.move(1);
            case 'k' -> state.move(-1);
            case 's' -> state.sortByNext();
            case '\r', '\n' -> state.toggleDetails();
            case ESCAPE -> {
                int introducer = keys.read(KEY_WAIT_MILLIS);
                if (introducer == '[' || introducer == 'O') {
                    int arrow = keys.read(KEY_WAIT_MILLIS);
                    state.move(arrow == 'B' ? 1 : arrow == 'A' ? -1 : 0);
                }
            }
            default -> {
                // Another key, or none within the time.
            }
        }
        return true;
    }

    private static String draw(TopState.Screen screen) {
        StringBuilder text = new StringBuilder("\033[H");
        for (int i = 0; i < screen.lines().size(); i++) {
            String line = screen.lines().get(i);
            text.append(i == 0 ? "" : "\r\n");
            text.append(i == screen.marked() ? "\033[7m" + line + "\033[0m" : line)
                    .append("\033[K");
        }
        return text.append("\033[J").toString();
    }

    private void poll(BlockingQueue<Consumer<TopState>> news) {
        String missingSince = "";
        try {
            while (true) {
                try {
                    Sample sample = poll.sample();
                    missingSince = "";
                    news.add(state -> state.tell(sample));
                } catch (ClientException e) {
                    if (missingSince.isEmpty()) {
                        missingSince = LocalTime.now(ZoneId.systemDefault())
                                .truncatedTo(ChronoUnit.SECONDS)
                                .toString();
                    }
                    String since = missingSince;
                    news.add(state -> state.miss(since, String.valueOf(e.getMessage())));
                }
                Thread.sleep(interval);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // The screen has ended.
        }
    }

    @Override
    public void close() {
        if (metrics != null) {
            metrics.close();
        }
    }

    /** Asks a server for its models, what it counts of them, and its metrics. For one thread. */
    public static final class ServerPoll {
        private static final int NAME_LIMIT = 256;
        private static final int REASON_LIMIT = 1024;

        private final GatunClient client;
        private final @Nullable MetricsReader metrics;

        /** {@code metrics} is null where metrics are not to be read. */
        ServerPoll(GatunClient client, @Nullable MetricsReader metrics) {
            this.client = client;
            this.metrics = metrics;
        }

        /** What the server tells now. Throws {@link ClientException} when it does not list its models. */
        Sample sample() {
            List<RepositoryModel> index = client.models().index(false);
            Map<Sample.Key, ModelCounts> counts = counts();
            long now = System.nanoTime();
            List<Sample.Model> models = new ArrayList<>();
            for (RepositoryModel model : index.subList(0, Math.min(index.size(), Sample.MODEL_LIMIT))) {
                models.add(new Sample.Model(
                        key(model.name(), model.version()),
                        model.state().isEmpty()
                                ? "not loaded"
                                : SafeText.of(model.state(), NAME_LIMIT).toLowerCase(Locale.ROOT),
                        SafeText.of(model.reason(), REASON_LIMIT)));
            }
            ServerMetrics told = metrics == null ? ServerMetrics.NONE : metrics.read();
            return new Sample(now, models, counts, told, index.size() - models.size());
        }

        private Map<Sample.Key, ModelCounts> counts() {
            Map<Sample.Key, ModelCounts> counts = new HashMap<>();
            try {
                for (ModelStatistics model : client.models().statistics("", "")) {
                    if (counts.size() == Sample.MODEL_LIMIT) {
                        break;
                    }
                    counts.put(key(model.getName(), model.getVersion()), ModelCounts.of(model));
                }
            } catch (ClientException e) {
                return Map.of(); // Not every server of the protocol counts.
            }
            return counts;
        }

        private static Sample.Key key(String model, String version) {
            return new Sample.Key(SafeText.of(model, NAME_LIMIT), SafeText.of(version, NAME_LIMIT));
        }
    }
}
