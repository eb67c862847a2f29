// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import gatun.bindings.onnxruntime.OrtApi;
import gatun.bindings.onnxruntime.OrtApiBase;
import gatun.bindings.onnxruntime.onnxruntime_h;
import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;

/** An opened ONNX Runtime: its functions and errors. Thread-safe; lives as long as the process. */
public final class OnnxRuntime {
    /** The library's usual name. */
    public static final String NAME = "ONNX Runtime";

    private static final String ENTRY = "OrtGetApiBase";
    private static final String TELEMETRY_OFF = "ORT_DISABLE_TELEMETRY";

    private final MemorySegment api;
    private final OrtStatus status;
    private final String version;
    private final Path path;

    private OnnxRuntime(MemorySegment api, String version, Path path) {
        this.api = api;
        this.status = new OrtStatus(api);
        this.version = version;
        this.path = path;
    }

    /** Links the library's functions, which is done when it is opened otherwise. For any thread, without the library. */
    public static void prepare() {
        OrtApi.layout();
        OrtPoolThreads.prepare();
    }

    /** Opens the library {@code path}, with its telemetry off unless the environment says otherwise. */
    public static NativeLibrary open(Path path) {
        switchTelemetryOff();
        return NativeLibrary.open(NAME, path, List.of(ENTRY));
    }

    /**
     * Official builds otherwise report to Microsoft, write a file per process into the temporary folder, and match the
     * whole command line with a recursive {@code std::regex}, which overflows a Java thread's stack at a few thousand
     * characters. The library reads the variable once, at its first use; a value that the operator set stays.
     */
    private static void switchTelemetryOff() {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment status = (MemorySegment) WordFunctions.find("setenv", 3)
                    .invokeExact(scratch.allocateFrom(TELEMETRY_OFF), scratch.allocateFrom("1"), MemorySegment.NULL);
            assert (int) status.address() == 0 : "setenv refused a constant name";
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** The library's function table. Throws NativeException {@link NativeCode#VERSION_TOO_OLD} for an old one. */
    public static OnnxRuntime of(NativeLibrary.Available library) {
        MemorySegment base = NativeMemory.segment(
                call(find(library)).address(), OrtApiBase.layout().byteSize());
        String version = NativeMemory.string(call(OrtApiBase.GetVersionString(base)));
        MemorySegment table = call(OrtApiBase.GetApi(base), onnxruntime_h.GATUN_ORT_API_VERSION());
        if (table.address() == 0) {
            throw new NativeException(
                    NativeCode.VERSION_TOO_OLD,
                    NAME + " " + version + " in " + library.path() + " is too old: expected 1."
                            + onnxruntime_h.GATUN_ORT_API_VERSION() + " or newer");
        }
        MemorySegment api = NativeMemory.segment(
                        table.address(), OrtApi.layout().byteSize())
                .asReadOnly();
        return new OnnxRuntime(api, version, library.path());
    }

    private static MemorySegment find(NativeLibrary.Available library) {
        return library.symbols().find(ENTRY).orElseThrow();
    }

    private static MemorySegment call(MemorySegment function) {
        try {
            return (MemorySegment) WordFunctions.taking(0).invokeExact(function);
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    private static MemorySegment call(MemorySegment function, int argument) {
        try {
            return (MemorySegment) WordFunctions.taking(1).invokeExact(function, MemorySegment.ofAddress(argument));
        } catch (Throwable t) {
            throw NativeCall.unexpected(t);
        }
    }

    /** The {@code OrtApi} table, the first argument of the generated accessors. Read-only. */
    public MemorySegment api() {
        return api;
    }

    /** The library's own version, for instance {@code 1.29.0}. */
    public String version() {
        return version;
    }

    /** The file that the library was loaded from. */
    public Path path() {
        return path;
    }

    /** Checks and frees a returned status. Throws {@link NativeException} with the library's code and message. */
    public void check(MemorySegment returned) {
        status.check(returned);
    }

    /** Turns each {@code OrtStatus*} into an exception, and frees it; no other class reads the codes. */
    static final class OrtStatus {
        private final MemorySegment api;

        OrtStatus(MemorySegment api) {
            this.api = api;
        }

        void check(MemorySegment status) {
            if (status.address() == 0) {
                return;
            }
            try {
                NativeCode code = NativeCode.ofOrt(OrtApi.getErrorCode(api, status));
                throw new NativeException(code, NativeMemory.string(OrtApi.getErrorMessage(api, status)));
            } finally {
                OrtApi.releaseStatus(api, status);
            }
        }
    }
}
