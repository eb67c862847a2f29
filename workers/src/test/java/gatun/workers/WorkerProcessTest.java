// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tuning.Tuner;
import gatun.memory.tuning.Tuner.TrialTurn;
import gatun.memory.tuning.Tuner.Trials;
import gatun.spi.Tuning;
import gatun.testing.Await;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Small processes, told to do what workers do. */
@Timeout(60)
class WorkerProcessTest {
    /** A frame of kind 1 without a body. */
    private static final String EMPTY_FRAME = "printf '\\001\\000\\000\\000\\001'; ";

    private static final String STAY = "exec sleep 1000";

    private final List<WorkerProcess> processes = new ArrayList<>();
    private final Heard heard = new Heard();

    /** What a process has said: the kind of each frame and its text. */
    private static final class Heard implements WorkerProcess.Listener {
        final BlockingQueue<String> frames = new LinkedBlockingQueue<>();
        final CompletableFuture<WorkerEnd> end = new CompletableFuture<>();

        @Override
        public void frame(int kind, FrameReader frame) {
            frames.add(kind + (kind == 1 ? "" : " " + frame.text()));
        }

        @Override
        public void ended(WorkerEnd how) {
            end.complete(how);
        }

        String frame() throws Exception {
            String frame = frames.poll(30, TimeUnit.SECONDS);
            assertThat(frame).as("a frame comes").isNotNull();
            return frame;
        }

        String end() throws Exception {
            return end.get(30, TimeUnit.SECONDS).text();
        }

        WorkerEnd.Reason reason() throws Exception {
            return end.get(30, TimeUnit.SECONDS).reason();
        }
    }

    @AfterEach
    void nothingShouldBeLeft() {
        for (WorkerProcess process : processes) {
            process.close();
            process.awaitEnd(Duration.ofSeconds(30));
            assertThat(ProcessHandle.of(process.pid()).filter(ProcessHandle::isAlive))
                    .isEmpty();
        }
    }

    /** A model that learns everything, and tells nobody. */
    private static final class Learning implements Tuning {
        private final TrialTurn turn = new TrialTurn();

        @Override
        public boolean learns(Subject subject) {
            return true;
        }

        @Override
        public Tuner tuner(Subject subject, List<String> ways, Trials trials) {
            return new Tuner(trials, turn, (way, gain) -> {});
        }

        @Override
        public void chose(Subject subject, List<String> ways, int way, double gain) {
            // Nobody asks.
        }
    }

    private WorkerProcess start(String... command) {
        return start(heard, command);
    }

    private WorkerProcess start(WorkerProcess.Listener listener, String... command) {
        WorkerProcess process = WorkerProcess.start(new WorkerProcess.Command("w", new ProcessBuilder(command)));
        processes.add(process);
        process.listen(listener, new Learning());
        return process;
    }

    private WorkerProcess shell(String script) {
        return start("/bin/sh", "-c", script);
    }

    @Test
    void shouldSendAndTakeFrames() throws Exception {
        WorkerProcess echo = start("cat");
        String longText = "0123456789".repeat(30_000);
        echo.send(2, frame -> frame.text("short"));
        assertThat(heard.frame()).isEqualTo("2 short");
        echo.send(250, frame -> frame.text(longText));
        echo.send(3, frame -> frame.text(""));
        assertThat(heard.frame()).isEqualTo("250 " + longText);
        assertThat(heard.frame()).isEqualTo("3 ");
        assertThat(echo.isRunning()).isTrue();

        echo.close();
        assertThat(heard.end()).isEqualTo("was ended by the server, because it is not needed any more");
        assertThat(heard.reason()).isEqualTo(WorkerEnd.Reason.SERVER);
        assertThat(echo.isRunning()).isFalse();
    }

    @Test
    void shouldSendAFrameRightBeforeTheNext() throws Exception {
        WorkerProcess echo = start("cat");
        echo.sendWithNext(2, frame -> frame.text("first"));
        echo.sendWithNext(3, frame -> frame.text("second"));
        assertThat(heard.frames).as("as long as nothing is sent").isEmpty();
        echo.send(4, frame -> frame.text("third"));
        assertThat(heard.frame()).isEqualTo("2 first");
        assertThat(heard.frame()).isEqualTo("3 second");
        assertThat(heard.frame()).isEqualTo("4 third");
        echo.send(5, frame -> frame.text("alone"));
        assertThat(heard.frame()).isEqualTo("5 alone");
    }

    @Test
    void shouldSendNothingOfAFrameThatCannotBeWritten() throws Exception {
        WorkerProcess echo = start("cat");
        assertThatThrownBy(() -> echo.send(2, frame -> {
                    frame.text("half");
                    throw GatunException.invalidArgument("no more");
                }))
                .hasMessage("no more");
        echo.send(3, frame -> frame.text("whole"));
        assertThat(heard.frame()).isEqualTo("3 whole");
    }

    @Test
    void shouldTellTheStatusThatAProcessExitsWith() throws Exception {
        shell(EMPTY_FRAME + "exit 3");
        assertThat(heard.end()).isEqualTo("exited with status 3");
        assertThat(heard.frames).as("the frame that came before").containsExactly("1");
    }

    @Test
    void shouldTellTheSignalThatEndsAProcess() throws Exception {
        shell("kill -9 $$");
        assertThat(heard.end()).isEqualTo("was ended by SIGKILL");
        assertThat(heard.reason()).isEqualTo(WorkerEnd.Reason.SIGNAL);
    }

    @Test
    void shouldTellTheNumberOfAnUncommonSignal() throws Exception {
        shell("kill -USR1 $$");
        assertThat(heard.end()).isEqualTo("was ended by signal 10");
    }

    @Test
    void shouldTellTheLastWordsOfAProcess() throws Exception {
        shell("for i in 1 2 3 4 5 6; do echo \"line $i\" >&2; echo >&2; done; printf '%0400d\\n' 7 >&2; exit 1");
        assertThat(heard.end())
                .isEqualTo("exited with status 1; its last words: line 3 | line 4 | line 5 | line 6 | "
                        + "0".repeat(300) + "...");
    }

    /** What a model prints may be what a client has sent: it must not fill the server's heap. */
    @Test
    void shouldCutALineThatDoesNotEnd() throws Exception {
        shell("head -c 40000000 /dev/zero | tr '\\000' a >&2; exit 1");
        String cut = "a".repeat(300) + "...";
        assertThat(heard.end()).startsWith("exited with status 1; its last words: " + cut + " | " + cut + " | ");
    }

    @Test
    void shouldTellWhyTheServerHasKilledAProcess() throws Exception {
        WorkerProcess process = shell("echo 'I am not ready' >&2; " + EMPTY_FRAME + STAY);
        assertThat(heard.frame()).as("it has said its words").isEqualTo("1");
        process.kill("it is late");
        process.kill("it is later");
        assertThat(heard.end())
                .isEqualTo("was ended by the server, because it is late; its last words: I am not ready");
    }

    @Test
    void shouldEndAProcessThatSendsAFrameOfAnImpossibleLength() throws Exception {
        for (String[] lengths : new String[][] {
            {"\\000\\000\\000\\000", "0"},
            {"\\001\\000\\000\\001", "16777217"},
            {"\\377\\377\\377\\377", "4294967295"}
        }) {
            Heard one = new Heard();
            WorkerProcess process = WorkerProcess.start(new WorkerProcess.Command(
                    "w", new ProcessBuilder("/bin/sh", "-c", "printf '" + lengths[0] + "'; " + STAY)));
            processes.add(process);
            process.listen(one, Tuning.OFF);
            assertThat(one.end())
                    .isEqualTo("was ended by the server, because it said what the server does not understand: the"
                            + " process of 'w' sent a frame of " + lengths[1] + " bytes");
        }
    }

    @Test
    void shouldEndAProcessWhoseFrameIsTooShortForWhatItIs() throws Exception {
        shell("printf '\\002\\000\\000\\000\\002\\007'; " + STAY);
        assertThat(heard.end())
                .isEqualTo("was ended by the server, because it said what the server does not understand: a worker sent"
                        + " a frame that ends too early");
        assertThat(heard.frames).isEmpty();
    }

    @Test
    void shouldPassOverAFrameThatTheEndOfTheProcessCuts() throws Exception {
        shell(EMPTY_FRAME + "printf '\\011\\000\\000\\000\\002\\001'; exit 4");
        assertThat(heard.end()).isEqualTo("exited with status 4");
        assertThat(heard.frames).containsExactly("1");
    }

    @Test
    void shouldSendNothingToAProcessThatHasEnded() throws Exception {
        WorkerProcess process = shell("exit 0");
        assertThat(heard.end()).isEqualTo("exited with status 0");
        assertThat(process.isRunning()).isFalse();
        assertThatThrownBy(() -> process.send(1, frame -> {}))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessage("the process of 'w' does not run any more");
    }

    /** The process's own thread may be reading already; after that it leaves the turn to those who wait. */
    @Test
    void shouldReadOnTheThreadThatWaits() {
        List<Thread> readers = new CopyOnWriteArrayList<>();
        WorkerProcess echo = listening("exec cat", (kind, frame) -> readers.add(Thread.currentThread()));
        Await.until("the waiting thread to read by itself", () -> {
            int before = readers.size();
            echo.send(1, frame -> {});
            echo.readUntil(() -> readers.size() > before);
            assertThat(readers).hasSize(before + 1);
            return readers.getLast().equals(Thread.currentThread());
        });
        echo.send(1, frame -> {});
        Await.until("a frame that nobody waits for", () -> !readers.getLast().equals(Thread.currentThread()));
    }

    /** The echo never unbinds itself, so that it is bound once, or never where there is one core. */
    @Test
    void shouldHandTheCoreOverToAWorkerWhetherOrNotTheOwnThreadReads() {
        int bound = Runtime.getRuntime().availableProcessors() > 1 ? 1 : 0;
        for (boolean ownThreadReads : new boolean[] {false, true}) {
            List<Integer> kinds = new CopyOnWriteArrayList<>();
            WorkerProcess echo = listening("exec cat", (kind, frame) -> kinds.add(kind));
            for (int asked = 1; asked <= 40; asked++) {
                if (ownThreadReads) {
                    Await.until("the process's own thread reads", WorkerProcessTest::isOwnThreadReading);
                }
                int expected = asked;
                echo.ask(2, 3, frame -> {});
                echo.readUntil(() -> kinds.size() == expected);
            }
            assertThat(kinds).hasSize(40).containsOnly(bound > 0 ? new Integer[] {2, 3} : new Integer[] {2});
            assertThat(kinds).filteredOn(kind -> kind == 3).hasSize(bound);
        }
    }

    /** Whether the thread that hears a process has the turn to read what it says. */
    private static boolean isOwnThreadReading() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(thread -> thread.getKey().getName().equals("worker-w"))
                .flatMap(thread -> Stream.of(thread.getValue()))
                .anyMatch(frame -> frame.getMethodName().equals("readFrame"));
    }

    @Test
    void shouldHearWhatComesAfterALongWait() throws Exception {
        WorkerProcess process = shell(EMPTY_FRAME + "sleep 0.1; " + EMPTY_FRAME + "sleep 0.1; " + EMPTY_FRAME + STAY);
        process.readUntil(() -> !heard.frames.isEmpty());
        process.readUntil(() -> heard.frames.size() > 1);
        assertThat(heard.frame()).isEqualTo("1");
        assertThat(heard.frame()).isEqualTo("1");
        assertThat(heard.frame()).as("read by the process's own thread").isEqualTo("1");
    }

    @Test
    void shouldWakeEachOfManyThreadsThatWait() throws Exception {
        int threads = 8;
        int rounds = 200;
        AtomicIntegerArray answers = new AtomicIntegerArray(threads);
        WorkerProcess echo = listening("exec cat", (kind, frame) -> answers.incrementAndGet(frame.u32()));
        try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<?>> done = new ArrayList<>();
            for (int i = 0; i < threads; i++) {
                int thread = i;
                done.add(all.submit(() -> {
                    for (int round = 1; round <= rounds; round++) {
                        int expected = round;
                        echo.send(2, frame -> frame.u32(thread));
                        echo.readUntil(() -> answers.get(thread) == expected);
                    }
                }));
            }
            for (Future<?> one : done) {
                one.get(60, TimeUnit.SECONDS);
            }
        }
        for (int i = 0; i < threads; i++) {
            assertThat(answers.get(i)).isEqualTo(rounds);
        }
    }

    @Test
    void shouldLetThreadsGoThatWaitWhenTheProcessEnds() throws Exception {
        for (String end : List.of("kill -9 $$", "exit 3", "printf '\\000\\000\\000\\000'; " + STAY)) {
            Heard one = new Heard();
            WorkerProcess process = start(one, "/bin/sh", "-c", EMPTY_FRAME + "sleep 0.02; " + end);
            process.readUntil(() -> !one.frames.isEmpty());
            try (ExecutorService all = Executors.newVirtualThreadPerTaskExecutor()) {
                Future<?> other = all.submit(() -> process.readUntil(() -> false));
                process.readUntil(() -> false);
                other.get(30, TimeUnit.SECONDS);
            }
            assertThat(one.end()).isNotEmpty();
        }
    }

    /** Runs a script, whose frames {@code frames} hears. */
    private WorkerProcess listening(String script, BiConsumer<Integer, FrameReader> frames) {
        return start(
                new WorkerProcess.Listener() {
                    @Override
                    public void frame(int kind, FrameReader frame) {
                        frames.accept(kind, frame);
                    }

                    @Override
                    public void ended(WorkerEnd how) {}
                },
                "/bin/sh",
                "-c",
                script);
    }

    @Test
    void shouldAwaitTheEndOfAProcessThatEnds() throws Exception {
        WorkerProcess process = shell("read line; exit 5");
        process.send(1, frame -> frame.text("\n"));
        process.awaitEnd(Duration.ofSeconds(30));
        assertThat(heard.end()).isEqualTo("exited with status 5");
    }

    @Test
    void shouldKillAProcessThatDoesNotEndInTime() throws Exception {
        WorkerProcess process = shell(STAY);
        process.awaitEnd(Duration.ofSeconds(1));
        assertThat(heard.end()).isEqualTo("was ended by the server, because it did not end within 1 s");
    }

    @Test
    void shouldSayThatAProgramIsMissing() {
        assertThatThrownBy(() -> start("/no/such/program"))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNAVAILABLE))
                .hasMessageContaining("the process of 'w' could not be started")
                .hasMessageContaining("/no/such/program");
    }

    /** Starts processes in every way in which they leave their parent, and then tells that it has. */
    private static final String LEAVING = """
            sleep 1000 & (sleep 1000 &) ; setsid sleep 1000 & (setsid sleep 1000 &); env -i PATH="$PATH" sleep 1000 &
            """ + EMPTY_FRAME;

    /** The processes that carry a variable of a worker's environment, and those of its session. */
    private static List<Long> carrying(String variable, long session) throws IOException {
        List<Long> found = new ArrayList<>();
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
            for (Path process : processes) {
                try {
                    String stat = Files.readString(process.resolve("stat"), ISO_8859_1);
                    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
                    boolean ended = fields[0].equals("Z");
                    boolean carries = Files.readString(process.resolve("environ"), ISO_8859_1)
                            .contains(variable);
                    if (!ended && (carries || Long.parseLong(fields[3]) == session)) {
                        found.add(Long.parseLong(process.getFileName().toString()));
                    }
                } catch (IOException e) {
                    assertThat(e)
                            .as("of a process that has just ended, or is another user's")
                            .isNotNull();
                }
            }
        }
        return found;
    }

    private void shouldLeaveNothing(String how, Consumer<WorkerProcess> ending) throws Exception {
        String variable = "PROBE=" + UUID.randomUUID();
        WorkerProcess worker = start("setsid", "env", variable, "/bin/sh", "-c", LEAVING + how);
        assertThat(heard.frame()).isEqualTo("1");
        Await.until("all have begun", () -> carrying(variable, worker.pid()).size() >= 6);
        ending.accept(worker);
        heard.end();
        assertThat(carrying(variable, worker.pid())).isEmpty();
    }

    @Test
    void shouldLeaveNoChildrenOfAWorkerThatEnds() throws Exception {
        shouldLeaveNothing("read -r nothing", worker -> worker.send(10, frame -> {}));
    }

    @Test
    void shouldLeaveNoChildrenOfAWorkerThatIsKilledFromOutside() throws Exception {
        shouldLeaveNothing(
                "sleep 1000",
                worker -> ProcessHandle.of(worker.pid()).orElseThrow().destroyForcibly());
    }

    @Test
    void shouldLeaveNoChildrenOfAWorkerThatIsStopped() throws Exception {
        shouldLeaveNothing("kill -STOP $$; sleep 1000", WorkerProcess::close);
    }

    @Test
    void shouldLetWhatCleansUpAfterAWorkerEndByItself(@TempDir Path folder) throws Exception {
        Path cleaned = folder.resolve("cleaned");
        WorkerProcess worker = shell("(while kill -0 $$; do :; done; : > " + cleaned + ") & " + EMPTY_FRAME + STAY);
        assertThat(heard.frame()).isEqualTo("1");
        worker.close();
        heard.end();
        assertThat(cleaned).exists();
    }

    @Test
    void shouldReadWhatAWorkerPrintsInALoopToItsEnd() throws Exception {
        shell("yes 'a line that is printed again and again' | head -c 300000000 >&2; echo the end >&2; " + EMPTY_FRAME);
        assertThat(heard.frame()).isEqualTo("1");
        assertThat(heard.end()).contains("exited with status 0", "the end");
    }
}
