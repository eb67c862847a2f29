// SPDX-License-Identifier: Apache-2.0
package gatun.it.embedded;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.embedded.war.AddServlet;
import gatun.it.harness.ModelRepositoryFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A WAR with Gatun in {@code WEB-INF/lib}, in Tomcat: deployed twice, and one of the two anew. */
class WarIT {
    @TempDir
    Path folder;

    @Test
    void shouldServeInEachOfTwoDeploymentsOfAWarAndAfterOneWasReloaded() throws Exception {
        Path models = Files.createDirectory(folder.resolve("models"));
        new ModelRepositoryFolder(models).simple("simple", "", 1);
        Path war = war(models);
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder.resolve("tomcat").toString());
        Files.createDirectories(folder.resolve("tomcat/webapps"));
        tomcat.setHostname("127.0.0.1");
        tomcat.setPort(0);
        tomcat.getConnector().setProperty("address", "127.0.0.1");
        try {
            Context one = tomcat.addWebapp("/one", war.toString());
            Context other = tomcat.addWebapp("/other", war.toString());
            tomcat.start();
            int port = tomcat.getConnector().getLocalPort();
            assertThat(sum(port, "/one")).isEqualTo("200 [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2]");
            assertThat(sum(port, "/other")).isEqualTo(sum(port, "/one"));
            ClassLoader before = one.getLoader().getClassLoader();
            assertThat(before).isNotSameAs(other.getLoader().getClassLoader());

            one.reload();

            assertThat(one.getLoader().getClassLoader()).isNotSameAs(before);
            assertThat(sum(port, "/one")).isEqualTo(sum(port, "/other")).startsWith("200 ");
        } finally {
            tomcat.stop();
            tomcat.destroy();
        }
    }

    private static String sum(int port, String application) throws IOException, InterruptedException {
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + application + "/add"))
                    .build();
            HttpResponse<String> response = client.send(request, BodyHandlers.ofString());
            return response.statusCode() + " " + response.body();
        }
    }

    private Path war(Path models) throws IOException {
        Path war = folder.resolve("application.war");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(war))) {
            // Jars are compressed already.
            zip.setLevel(Deflater.NO_COMPRESSION);
            add(zip, "WEB-INF/web.xml", """
                    <web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.1" metadata-complete="true">
                      <absolute-ordering/>
                      <servlet>
                        <servlet-name>add</servlet-name>
                        <servlet-class>%s</servlet-class>
                        <init-param>
                          <param-name>models</param-name>
                          <param-value>%s</param-value>
                        </init-param>
                        <load-on-startup>1</load-on-startup>
                      </servlet>
                      <servlet-mapping>
                        <servlet-name>add</servlet-name>
                        <url-pattern>/add</url-pattern>
                      </servlet-mapping>
                    </web-app>
                    """.formatted(AddServlet.class.getName(), models)
                    .getBytes(UTF_8));
            String servlet = AddServlet.class.getName().replace('.', '/') + ".class";
            try (InputStream code = AddServlet.class.getClassLoader().getResourceAsStream(servlet)) {
                add(
                        zip,
                        "WEB-INF/classes/" + servlet,
                        Objects.requireNonNull(code).readAllBytes());
            }
            try (Stream<Path> jars = Files.list(Path.of(System.getProperty("gatun.lib")))) {
                jars.forEach(jar -> add(zip, "WEB-INF/lib/" + jar.getFileName(), content(jar)));
            }
        }
        return war;
    }

    private static byte[] content(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void add(ZipOutputStream zip, String name, byte[] content) {
        try {
            zip.putNextEntry(new ZipEntry(name));
            zip.write(content);
            zip.closeEntry();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
