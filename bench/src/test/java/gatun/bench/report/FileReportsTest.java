// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import gatun.bench.report.HtmlReport.ThroughputPlot;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.xml.sax.InputSource;

class FileReportsTest {
    @Test
    void shouldWriteEverythingAsJson() throws Exception {
        String json = JsonReport.text(ReportSamples.bad());
        List<String> names = new ArrayList<>();
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.FIELD_NAME) {
                    names.add(parser.currentName());
                }
            }
        }
        assertThat(names)
                .contains(
                        "model",
                        "environment",
                        "rows",
                        "request_rate",
                        "distribution",
                        "inferences_per_second",
                        "failures",
                        "wrong_answers",
                        "latency_nanos",
                        "percentiles",
                        "histogram",
                        "client",
                        "overdue")
                .doesNotContain("server");
        assertThat(JsonReport.text(ReportSamples.good()))
                .contains("\"queue_nanos_per_request\" : 10000.0", "\"concurrency\" : 4", "\"stable\" : true");
        assertThat(JsonReport.text(ReportSamples.silent())).contains("\"requests\" : 0", "\"histogram\" : [ ]");
    }

    @Test
    void shouldWriteALineForEachLoadAsCsv() {
        List<String> lines = CsvReport.text(ReportSamples.good()).lines().toList();
        assertThat(lines).hasSize(5);
        long columns = lines.getFirst().chars().filter(c -> c == ',').count();
        assertThat(lines).allSatisfy(line -> assertThat(line.chars().filter(c -> c == ','))
                .hasSize((int) columns));
        assertThat(lines.get(1))
                .startsWith("http://localhost:8000,http binary,concurrency,1.000,2,10010.000,5005.000,");
        assertThat(CsvReport.text(ReportSamples.bad()).lines().toList().get(1)).contains(",false,,,,,,,");
    }

    @Test
    void shouldDrawALineForEachLoad() throws Exception {
        Document svg = parse(LatencyPlot.svg(ReportSamples.good()));
        assertThat(svg.getElementsByTagName("polyline").getLength()).isEqualTo(4);
        assertThat(svg.getDocumentElement().getTextContent())
                .contains("Latency of model a<b by percentile", "99.9%", "grpc stream sealed, concurrency 4");
    }

    @Test
    void shouldDrawLatencyByThroughputOfSeveralLoads() throws Exception {
        Document svg = parse(ThroughputPlot.svg(ReportSamples.good()));
        assertThat(svg.getElementsByTagName("polyline").getLength()).isEqualTo(2);
        assertThat(svg.getElementsByTagName("circle").getLength()).isEqualTo(4);
        assertThat(ThroughputPlot.isUseful(ReportSamples.good())).isTrue();
        assertThat(ThroughputPlot.isUseful(ReportSamples.bad())).isFalse();
    }

    @Test
    void shouldDrawNothingWhereNothingWasAnswered() throws Exception {
        assertThat(parse(LatencyPlot.svg(ReportSamples.silent()))
                        .getElementsByTagName("polyline")
                        .getLength())
                .isZero();
        assertThat(HtmlReport.text(ReportSamples.silent())).doesNotContain("<svg");
    }

    @Test
    void shouldWriteAPageThatNeedsNothingElse() throws Exception {
        String html = HtmlReport.text(ReportSamples.bad());
        assertThat(html.replace("http://www.w3.org/2000/svg", ""))
                .doesNotContain("http://", "https://", "<script", "<link");
        assertThat(html).contains("model &#39;a".replace("&#39;", "'") + "&lt;b' said &quot;no&quot; &amp; more");
        String body = html.substring(html.indexOf("<body>"), html.indexOf("</html>"));
        assertThat(parse(body).getElementsByTagName("svg").getLength()).isEqualTo(1);
        assertThat(HtmlReport.text(ReportSamples.good()).split("<svg", -1)).hasSize(3);
    }

    @Test
    void shouldPutRarePercentilesAsFarApartAsCommonOnes() {
        Axis axis = Axis.percentiles(99.99);
        assertThat(axis.position(0)).isZero();
        assertThat(axis.position(99.99)).isBetween(0.999, 1.001);
        assertThat(axis.position(99.9) - axis.position(99)).isBetween(0.249, 0.251);
        assertThat(axis.ticks())
                .extracting(Axis.Tick::text)
                .containsExactly("0%", "50%", "90%", "99%", "99.9%", "99.99%");
    }

    @Test
    void shouldMarkRoundValues() {
        assertThat(Axis.linear("", 0.9, Units::digits).ticks())
                .extracting(Axis.Tick::value)
                .isNotEmpty()
                .allSatisfy(value -> assertThat(value * 5).isBetween(-0.001, 5.001));
        assertThat(Axis.logarithmic("", 150, 4200, Units::digits).ticks())
                .extracting(Axis.Tick::text)
                .containsExactly("100", "200", "500", "1000", "2000", "5000");
    }

    private static Document parse(String xml) throws Exception {
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new InputSource(new StringReader(xml)));
    }
}
