// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.StringWriter;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The compiler itself keeps modules apart: a class put into one cannot name what that module must not know. */
class ModuleBoundaryIT {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "gatun.http, gatun.bindings.Posix",
        "gatun.grpc, gatun.bindings.Posix",
        "gatun.runtime, gatun.bindings.Posix",
        "gatun.http, gatun.grpc.GrpcListener",
        "gatun.grpc, gatun.http.HttpListener",
        "gatun.runtime, gatun.http.HttpListener",
        "gatun.runtime, gatun.tensorflow.serving.Servables",
        "gatun.spi, gatun.runtime.server.InferenceServer",
        "gatun.backend.builtin, gatun.runtime.server.InferenceServer",
        "gatun.http, gatun.v2.protocol.V2Protocol",
        "gatun.grpc, gatun.v2.protocol.V2Protocol",
        "gatun.v1, gatun.v2.protocol.V2Protocol",
        "gatun.tensorflow.serving, gatun.v1.protocol.V1Protocol",
        "gatun.server, gatun.v1.protocol.V1Protocol",
        "gatun.server, gatun.tensorflow.serving.protocol.TensorFlowProtocol",
        "gatun.server, gatun.console.protocol.ConsoleProtocol",
        "gatun.server, gatun.cloud.sagemaker.SageMakerProtocol",
        "gatun.memory, gatun.runtime.server.InferenceServer",
        "gatun.bindings, gatun.memory.tensor.Tensor",
    })
    void shouldNotCompileAClassThatCrosses(String module, String foreign) throws Exception {
        StringWriter messages = new StringWriter();
        assertThat(compile(module, foreign, messages)).as(messages.toString()).isFalse();
        String aPackage = foreign.substring(0, foreign.lastIndexOf('.'));
        assertThat(messages.toString()).contains("package " + aPackage + " is not visible");
    }

    @ParameterizedTest
    @CsvSource({
        "gatun.http, gatun.runtime.server.InferenceServer",
        "gatun.grpc, gatun.runtime.server.InferenceServer",
        "gatun.runtime, gatun.memory.tensor.Tensor",
        "gatun.backend.builtin, gatun.spi.Backend",
        "gatun.memory, gatun.bindings.Posix",
        "gatun.v2, gatun.http.routes.RouteTable",
        "gatun.v1, gatun.grpc.GrpcService",
    })
    void shouldCompileAClassThatStaysWithinItsBounds(String module, String known) throws Exception {
        StringWriter messages = new StringWriter();
        assertThat(compile(module, known, messages)).as(messages.toString()).isTrue();
    }

    /** Compiles, as part of {@code module}, a class that names {@code other}. */
    private boolean compile(String module, String other, StringWriter messages) throws Exception {
        Path source = Files.createDirectories(folder.resolve("source").resolve(module.replace('.', '/')))
                .resolve("Trespass.java");
        Files.writeString(source, "package " + module + "; final class Trespass { " + other + " seen; }");
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        return compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of(
                                "--module-path",
                                System.getProperty("gatun.lib") + File.pathSeparator + annotations(),
                                "--add-modules",
                                "gatun.server",
                                "--patch-module",
                                module + "=" + folder.resolve("source"),
                                "-proc:none",
                                "-d",
                                Files.createDirectories(folder.resolve("classes"))
                                        .toString()),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(source))
                .call();
    }

    /** The annotations that descriptors name but that no program needs. */
    private static Path annotations() throws URISyntaxException {
        return Path.of(NullMarked.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    }
}
