// SPDX-License-Identifier: Apache-2.0
package gatun.it.console;

import static com.microsoft.playwright.assertions.PlaywrightAssertions.assertThat;
import static com.microsoft.playwright.assertions.PlaywrightAssertions.setDefaultAssertionTimeout;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.Gson;
import com.microsoft.playwright.Locator;
import com.microsoft.playwright.Page;
import com.microsoft.playwright.options.AriaRole;
import com.microsoft.playwright.options.ColorScheme;
import com.microsoft.playwright.options.FilePayload;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The form by which the console asks models: what it begins with, and what it makes of pictures. */
@Timeout(120)
class ConsoleFormIT {
    private static final double ASSERTION_MILLIS = 15_000;

    /** The shapes and first elements that a form begins with, and the layouts of inputs that are pictures. */
    private static final String BEGINNINGS = """
            async ([specs, hasBatch]) => {
                const { inputDefaults } = await import('/console/input-defaults.js');
                return JSON.stringify(inputDefaults(specs, hasBatch).map(({ dims, fill }) => [dims, [fill(0), fill(1)]]));
            }
            """;

    /** The colours of the corners of a canvas. */
    private static final String CORNERS = """
            canvas => {
                const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
                copy.drawImage(canvas, 0, 0);
                const at = (x, y) => Array.from(copy.getImageData(x, y, 1, 1).data).join();
                const [right, bottom] = [canvas.width - 1, canvas.height - 1];
                return [at(0, 0), at(0, bottom), at(right, 0), at(right, bottom)].join(' ');
            }
            """;

    private static final String RED = "255,0,0,255";
    private static final String BLUE = "0,0,255,255";
    private static final String WHITE = "255,255,255,255";

    @TempDir
    static Path folder;

    private static ServerProcess server;
    private static PageBrowser browser;

    @BeforeAll
    static void start() throws Exception {
        model("voice", 0, new String[][] {
            {"input", "FP32", "-1, -1"}, {"state", "FP32", "2, -1, 128"}, {"sr", "INT64", "1"},
        });
        model("sentences", 0, new String[][] {
            {"input_ids", "INT64", "-1, -1"},
            {"attention_mask", "INT64", "-1, -1"},
            {"token_type_ids", "INT64", "-1, -1"},
        });
        model("line_reader", 4, new String[][] {{"x", "FP32", "3, 48, -1"}});
        model("wide_eye", 4, new String[][] {{"input", "FP32", "3, 32, 64"}});
        model("sounds", 0, new String[][] {{"input_features", "FP32", "1, 80, 3000"}});
        server = ServerProcess.launch(folder);
        browser = new PageBrowser();
        setDefaultAssertionTimeout(ASSERTION_MILLIS);
    }

    /** Adds a model that answers with its inputs. */
    private static void model(String name, int batch, String[][] inputs) throws IOException {
        StringBuilder config = new StringBuilder("backend: \"identity\" max_batch_size: " + batch + "\n");
        for (String side : List.of("input", "output")) {
            for (String[] input : inputs) {
                String tensor = side.equals("input") ? input[0] : "of_" + input[0];
                config.append("%s { name: \"%s\" data_type: TYPE_%s dims: [ %s ] }\n"
                        .formatted(side, tensor, input[1], input[2]));
            }
        }
        Files.createDirectories(folder.resolve(name).resolve("1"));
        new ModelRepositoryFolder(folder).config(name, config.toString());
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private static Tab form(String model) {
        Tab tab = browser.open(ColorScheme.LIGHT, 1280, 800, "");
        tab.page().navigate(server.http("/#/models/" + model + "/1/try").toString());
        assertThat(tab.button("Ask the model")).isVisible();
        return tab;
    }

    private static Locator answer(Tab tab) {
        return tab.page().getByRole(AriaRole.REGION).filter(new Locator.FilterOptions().setHas(tab.heading("Answer")));
    }

    private static Map<String, Object> spec(String name, String datatype, Integer... shape) {
        return Map.of("name", name, "datatype", datatype, "shape", List.of(shape), "format", "NONE");
    }

    private static String beginnings(Tab tab, boolean hasBatch, List<Map<String, Object>> specs) {
        return (String) tab.page().evaluate(BEGINNINGS, List.of(specs, hasBatch));
    }

    @Test
    void shouldBeginWithShapesThatAgreeAndElementsThatModelsTake() {
        try (Tab tab = form("voice")) {
            assertThat(beginnings(
                            tab,
                            false,
                            List.of(
                                    spec("input", "FP32", -1, -1),
                                    spec("state", "FP32", 2, -1, 128),
                                    spec("sr", "INT64"))))
                    .isEqualTo("[[[1,512],[0,0]],[[2,1,128],[0,0]],[[],[16000,16000]]]");
            assertThat(beginnings(
                            tab,
                            false,
                            List.of(
                                    spec("input_ids", "INT64", -1, -1),
                                    spec("attention_mask", "INT64", -1, -1),
                                    spec("position_ids", "INT64", -1, -1),
                                    spec("past_key_values.0.key", "FP32", -1, 8, -1, 64))))
                    .isEqualTo("[[[1,8],[1,2]],[[1,8],[1,1]],[[1,8],[0,1]],[[1,8,0,64],[0,0]]]");
            assertThat(beginnings(
                            tab,
                            true,
                            List.of(spec("audio_signal", "FP32", -1, 80, -1), spec("length", "INT64", -1, 1))))
                    .isEqualTo("[[[1,80,100],[1,2]],[[1,1],[100,100]]]");
            assertThat(beginnings(tab, false, List.of(spec("waveform", "FP32", -1, -1))))
                    .isEqualTo("[[[1,16000],[0,0]]]");
            assertThat(beginnings(tab, false, List.of(spec("threshold", "FP32"), spec("IN", "INT32", -1))))
                    .isEqualTo("[[[],[1,2]],[[1],[1,2]]]");
        }
    }

    @Test
    void shouldTakeForAPictureWhatHasTheShapeAndTheNameOfOne() {
        try (Tab tab = form("voice")) {
            for (Map<String, Object> picture : List.of(
                    spec("x", "FP32", 1, 3, 48, -1),
                    spec("images", "FP32", -1, 3, -1, -1),
                    spec("pixel_values", "FP16", 1, 224, 224, 3),
                    spec("Input3", "FP32", 1, 1, 28, 28),
                    spec("input_tensor", "UINT8", 1, -1, -1, 3),
                    spec("image_rgba", "UINT8", 480, 640, 4))) {
                assertThat(layout(tab, picture)).as(picture.toString()).isNotEqualTo("null");
            }
            for (Map<String, Object> other : List.of(
                    spec("input_features", "FP32", 1, 80, 3000),
                    spec("input_1", "FP32", -1, 76, 32, 1),
                    spec("log_mel", "FP32", 1, 1, 64, 64),
                    spec("latent_sample", "FP32", 1, 4, 64, 64),
                    spec("points", "FP32", -1, -1, 3),
                    spec("input_ids", "INT64", 1, 3, 64),
                    spec("image", "FP32", 3, 8, 8))) {
                assertThat(layout(tab, other)).as(other.toString()).isEqualTo("null");
            }
        }
    }

    private static String layout(Tab tab, Map<String, Object> spec) {
        return new Gson().toJson(tab.call("/console/picture.js", "pictureLayout", spec));
    }

    @Test
    void shouldAskAModelOfVoicesAndOneOfSentencesAsTheirFormsStand() {
        try (Tab tab = form("voice")) {
            tab.button("Ask the model").click();
            assertThat(answer(tab)).containsText("of_input FP32 [1, 512]");
            assertThat(answer(tab)).containsText("of_state FP32 [2, 1, 128]");
            assertThat(answer(tab).locator(".values").last()).hasText("16000");
        }
        try (Tab tab = form("sentences")) {
            tab.button("Ask the model").click();
            for (String input : List.of("input_ids", "attention_mask", "token_type_ids")) {
                assertThat(answer(tab)).containsText("of_" + input + " INT64 [1, 8]");
            }
        }
    }

    @Test
    void shouldNotDrawFeaturesAsAPicture() {
        try (Tab tab = form("sounds")) {
            assertThat(tab.page().locator("canvas")).hasCount(0);
            tab.button("Ask the model").click();
            assertThat(answer(tab)).containsText("of_input_features FP32 [1, 80, 3000]");
        }
    }

    /** A PNG file, red on the left and blue on the right. */
    private static FilePayload picture(int width, int height) throws IOException {
        BufferedImage image = new BufferedImage(width, height, BufferedImage.TYPE_INT_RGB);
        Graphics2D pen = image.createGraphics();
        pen.setColor(Color.RED);
        pen.fillRect(0, 0, width / 2, height);
        pen.setColor(Color.BLUE);
        pen.fillRect(width / 2, 0, width - width / 2, height);
        pen.dispose();
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        ImageIO.write(image, "png", file);
        return new FilePayload("picture.png", "image/png", file.toByteArray());
    }

    @Test
    void shouldKeepTheShapeOfAPictureWhoseWidthTheRequestDecides() throws IOException {
        try (Tab tab = form("line_reader")) {
            tab.page().locator("input[type=file]").setInputFiles(picture(800, 200));
            assertThat(tab.page().locator("figcaption")).hasText("The model sees 192 × 48, values 0 to 1");
            Locator seen = tab.page().locator("canvas.seen");
            assertThat(seen.evaluate(CORNERS)).isEqualTo(String.join(" ", RED, RED, BLUE, BLUE));
            var shown = seen.boundingBox();
            assertThat(shown.width / shown.height).isBetween(3.8, 4.2);
            tab.button("Ask the model").click();
            assertThat(answer(tab)).containsText("of_x FP32 [1, 3, 48, 192]");

            tab.page().locator("input[type=file]").setInputFiles(picture(200, 200));
            tab.button("Ask the model").click();
            assertThat(answer(tab)).containsText("of_x FP32 [1, 3, 48, 48]");
        }
    }

    @Test
    void shouldShowWhatTheModelGetsOfAPicture() throws IOException {
        try (Tab tab = form("wide_eye")) {
            tab.page().locator("input[type=file]").setInputFiles(picture(64, 64));
            Locator seen = tab.page().locator("canvas.seen");
            Locator text = tab.page().locator("figcaption");
            assertThat(text).hasText("The model sees 64 × 32, values 0 to 1");
            assertThat(seen.evaluate(CORNERS)).isEqualTo(String.join(" ", RED, RED, BLUE, BLUE));
            tab.page().getByLabel("Keep the whole picture").check();
            assertThat(seen.evaluate(CORNERS))
                    .as("bars at both sides")
                    .isEqualTo(String.join(" ", WHITE, WHITE, WHITE, WHITE));
            tab.page()
                    .getByLabel("Values", new Page.GetByLabelOptions().setExact(true))
                    .selectOption("signed");
            assertThat(text).hasText("The model sees 64 × 32, values −1 to 1");
            tab.page()
                    .getByLabel("Values", new Page.GetByLabelOptions().setExact(true))
                    .selectOption("imagenet");
            assertThat(text).hasText("The model sees 64 × 32, values −2.12 to 2.64");
            assertThat(tab.page().locator("canvas.paper").evaluate("canvas => canvas.width + ' ' + canvas.height"))
                    .isEqualTo("64 64");
            tab.button("Clear").click();
            assertThat(tab.page().locator("canvas.paper").evaluate("canvas => canvas.width + ' ' + canvas.height"))
                    .as("a sheet of the model's shape")
                    .isEqualTo("280 140");
        }
    }
}
