// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.bindings.NativeCode;
import gatun.bindings.NativeException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/** Translates ONNX Runtime's failures. Their texts go to clients, so they name no folders. */
final class OnnxErrors {
    /** The engine's error for a text that is no number: just the C++ function's name. */
    private static final Pattern UNREADABLE_NUMBER = Pattern.compile("Status Message: sto(?:i|l|ll|ul|ull|f|d|ld)$");

    /** Sizes that do not go together in a run, made by its inputs. The engine has no code for this. */
    private static final Pattern SIZES_APART =
            Pattern.compile("Attempting to broadcast an axis by a dimension other than 1\\. \\d+ by \\d+");

    /** Where in the engine's own sources a check failed. */
    private static final Pattern SOURCE_POSITION = Pattern.compile("\\S*/[\\w.-]+\\.(?:cc|cpp|cu|h|hpp):\\d+ ?");

    private static final Pattern LOADED_FILE = Pattern.compile("^Load model from .* failed: ?");

    /** Who failed to load a provider, in the engine's own words. */
    private static final Pattern PROVIDER_PLACE = Pattern.compile(
            "^onnxruntime::Provider& onnxruntime::ProviderLibrary::Get\\(\\) \\[ONNXRuntimeError\\] : \\d+ : \\w+ : ");

    private OnnxErrors() {}

    /** The failure of a run: the client's when the engine says that an argument does not fit, else the engine's. */
    static GatunException ofRun(NativeException failure) {
        String text = text(failure);
        if (UNREADABLE_NUMBER.matcher(text).find()) {
            return new GatunException(
                    ErrorCode.INVALID_ARGUMENT,
                    "onnx runtime error: an element of a BYTES input is not the text of a number that the model can"
                            + " read: " + text,
                    failure);
        }
        boolean argument = failure.code() == NativeCode.INVALID_ARGUMENT
                || SIZES_APART.matcher(text).find();
        ErrorCode code = argument ? ErrorCode.INVALID_ARGUMENT : ErrorCode.INTERNAL;
        return new GatunException(code, "onnx runtime error: " + text, failure);
    }

    static GatunException ofLoad(NativeException failure, Path file) {
        // Also the files that the model's file names lie in its folder.
        String text = LOADED_FILE.matcher(text(failure)).replaceFirst("").replace(file.resolveSibling("") + "/", "");
        String name = String.valueOf(file.getFileName());
        String reason = failure.code() == NativeCode.INVALID_PROTOBUF
                ? name + " is not a valid ONNX file: " + text + size(file)
                : "cannot load " + name + ": " + text;
        return new GatunException(loadCode(failure), reason, failure);
    }

    private static String size(Path file) {
        try {
            return " It has " + Files.size(file) + " bytes; if the original has more, it was cut off: copy it again.";
        } catch (IOException e) {
            return "";
        }
    }

    /** The failure to set an option that the model's configuration asks for. */
    static GatunException ofOptions(NativeException failure, String model) {
        return new GatunException(
                loadCode(failure),
                "cannot load the session options of model '" + model + "': " + text(failure),
                failure);
    }

    /** The failure to load the CUDA provider beside {@code library}: something that it needs is missing. */
    static GatunException ofProvider(NativeException failure, String model, Path library) {
        String text =
                PROVIDER_PLACE.matcher(text(failure)).replaceFirst("").replace(library.resolveSibling("") + "/", "");
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "ONNX Runtime cannot run model '" + model + "' on a GPU: " + text
                        + "; install what is missing, or give the model instances of KIND_CPU",
                failure);
    }

    static GatunException ofOperators(NativeException failure, String model, Path library, String version) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "the library of operators " + library + " of model '" + model + "' cannot be registered: "
                        + text(failure)
                        + "; expected a library that was built for ONNX Runtime " + version
                        + " and has the function RegisterCustomOps",
                failure);
    }

    private static ErrorCode loadCode(NativeException failure) {
        return switch (failure.code()) {
            case NO_SUCH_FILE, NO_MODEL, NOT_FOUND -> ErrorCode.NOT_FOUND;
            case INVALID_ARGUMENT, INVALID_PROTOBUF, INVALID_GRAPH, UNSUPPORTED, FAILED -> ErrorCode.INVALID_ARGUMENT;
            case ENGINE_ERROR,
                    RUNTIME_EXCEPTION,
                    MODEL_LOADED,
                    PROVIDER_FAILED,
                    LOAD_CANCELLED,
                    REQUIRES_COMPILATION,
                    DEVICE_RESET,
                    VERSION_TOO_OLD,
                    UNKNOWN -> ErrorCode.INTERNAL;
        };
    }

    /** The engine's text in one line, without the places in its sources. */
    private static String text(NativeException failure) {
        String line = String.valueOf(failure.getMessage()).strip().replaceAll("\\s*\\n\\s*", " ");
        return SOURCE_POSITION.matcher(line).replaceAll("");
    }
}
