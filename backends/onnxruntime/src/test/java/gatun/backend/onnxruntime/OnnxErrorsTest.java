// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.NativeCode;
import gatun.bindings.NativeException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OnnxErrorsTest {
    private static final Path FILE = Path.of("/srv/my models/m/1/model.onnx");

    @Test
    void shouldBlameTheClientForAnArgumentThatDoesNotFit() {
        GatunException failure = run(NativeCode.INVALID_ARGUMENT, "Got invalid dimensions for input: x");
        assertThat(failure.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
        assertThat(failure).hasMessage("onnx runtime error: Got invalid dimensions for input: x");
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"INVALID_ARGUMENT"})
    void shouldBlameTheEngineForEverythingElse(NativeCode code) {
        assertThat(run(code, "it broke").code()).isEqualTo(ErrorCode.INTERNAL);
    }

    @ParameterizedTest
    @ValueSource(strings = {"stoi", "stol", "stoll", "stoul", "stoull", "stof", "stod", "stold"})
    void shouldBlameTheClientForATextThatIsNoNumber(String function) {
        GatunException failure = run(
                NativeCode.RUNTIME_EXCEPTION,
                "Non-zero status code returned while running Cast node. Name:'' Status Message: " + function);
        assertThat(failure.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT);
        assertThat(failure).hasMessageContaining("is not the text of a number");
    }

    @Test
    void shouldLeaveOutWhereInTheEnginesSourcesItFailed() {
        GatunException failure = run(
                NativeCode.RUNTIME_EXCEPTION,
                "Non-zero status code returned while running Gemm node. Name:'/layer1/fc/Gemm' Status Message: "
                        + "/onnxruntime_src/onnxruntime/core/providers/cpu/math/gemm.cc:17 Compute() a != b was"
                        + " false.\n  a");
        assertThat(failure)
                .hasMessage("onnx runtime error: Non-zero status code returned while running Gemm node. "
                        + "Name:'/layer1/fc/Gemm' Status Message: Compute() a != b was false. a");
    }

    @Test
    void shouldNotTellWhereAModelLies() {
        assertThat(OnnxErrors.ofLoad(
                        new NativeException(
                                NativeCode.INVALID_PROTOBUF,
                                "Load model from " + FILE + " failed:Protobuf parsing failed."),
                        FILE))
                .hasMessage("model.onnx is not a valid ONNX file: Protobuf parsing failed.");
        assertThat(OnnxErrors.ofLoad(
                        new NativeException(
                                NativeCode.FAILED, "no file " + FILE.resolveSibling("weights.bin") + " found"),
                        FILE))
                .hasMessage("cannot load model.onnx: no file weights.bin found");
    }

    private static GatunException run(NativeCode code, String text) {
        return OnnxErrors.ofRun(new NativeException(code, text));
    }

    @Test
    void shouldSayWhatAProviderLacksWithoutFoldersOfTheMachine() {
        GatunException failure = OnnxErrors.ofProvider(
                new NativeException(
                        NativeCode.FAILED,
                        "/onnxruntime_src/onnxruntime/core/session/provider_bridge_ort.cc:1988 onnxruntime::Provider&"
                                + " onnxruntime::ProviderLibrary::Get() [ONNXRuntimeError] : 1 : FAIL : Failed to load"
                                + " library /opt/ort/libonnxruntime_providers_cuda.so with error: libcublasLt.so.12:"
                                + " cannot open shared object file: No such file or directory\n"),
                "m",
                Path.of("/opt/ort/libonnxruntime.so"));

        assertThat(failure.code()).isEqualTo(ErrorCode.UNAVAILABLE);
        assertThat(failure)
                .hasMessage("ONNX Runtime cannot run model 'm' on a GPU: Failed to load library"
                        + " libonnxruntime_providers_cuda.so with error: libcublasLt.so.12: cannot open shared object"
                        + " file: No such file or directory; install what is missing, or give the model instances of"
                        + " KIND_CPU");
    }
}
