// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees;

import gatun.bindings.NativeMemory;
import gatun.bindings.xgboost.xgboost_h;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Owns a {@code BoosterHandle}: a loaded model of XGBoost. Any thread may ask it; closed once, after the last call. */
final class XGBoostBooster implements AutoCloseable {
    /** The objective in the library's settings, whose order of fields is the alphabet's. */
    private static final Pattern OBJECTIVE =
            Pattern.compile("\"learner_train_param\":\\{[^}]*\"objective\":\"([^\"]*)\"");

    private static final String CHOOSES_CLASS = "multi:softmax";
    private static final String GIVES_PROBABILITIES = "multi:softprob";

    private final MemorySegment handle;

    private XGBoostBooster(MemorySegment handle) {
        this.handle = handle;
    }

    /**
     * Loads JSON or UBJSON with a byte after it; messages begin with {@code what}. With {@code probabilities} a model
     * that chooses among classes answers with theirs. Throws INVALID_ARGUMENT when unreadable.
     */
    static XGBoostBooster load(MemorySegment bytes, int threads, boolean probabilities, String what) {
        try (Arena scratch = Arena.ofConfined()) {
            // Of this thread: what is wrong is told by the error, and warnings are for those who train.
            check(xgboost_h.XGBSetGlobalConfig(scratch.allocateFrom("{\"verbosity\":0}")), what);
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            check(xgboost_h.XGBoosterCreate(MemorySegment.NULL, 0, out), what);
            XGBoostBooster booster = new XGBoostBooster(out.get(ValueLayout.ADDRESS, 0));
            try {
                check(xgboost_h.XGBoosterLoadModelFromBuffer(booster.handle, bytes, bytes.byteSize() - 1), what);
                booster.set("nthread", Integer.toString(threads), what);
                if (probabilities && booster.objective(what).equals(CHOOSES_CLASS)) {
                    booster.set("objective", GIVES_PROBABILITIES, what);
                }
                return booster;
            } catch (RuntimeException | Error e) {
                booster.close();
                throw e;
            }
        }
    }

    private static void check(int returned, String what) {
        XGBoostCalls.check(returned, ErrorCode.INVALID_ARGUMENT, what);
    }

    private void set(String name, String value, String what) {
        try (Arena scratch = Arena.ofConfined()) {
            check(xgboost_h.XGBoosterSetParam(handle, scratch.allocateFrom(name), scratch.allocateFrom(value)), what);
        }
    }

    private String objective(String what) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment length = scratch.allocate(ValueLayout.JAVA_LONG);
            MemorySegment out = scratch.allocate(ValueLayout.ADDRESS);
            check(xgboost_h.XGBoosterSaveJsonConfig(handle, length, out), what);
            Matcher objective = OBJECTIVE.matcher(NativeMemory.string(out.get(ValueLayout.ADDRESS, 0)));
            return objective.find() ? objective.group(1) : "";
        }
    }

    /** How many features a row has. Throws {@link GatunException} INVALID_ARGUMENT for a model without any. */
    int features(String what) {
        try (Arena scratch = Arena.ofConfined()) {
            MemorySegment out = scratch.allocate(ValueLayout.JAVA_LONG);
            check(xgboost_h.XGBoosterGetNumFeature(handle, out), what);
            long features = out.get(ValueLayout.JAVA_LONG, 0);
            if (features < 1 || features > Integer.MAX_VALUE) {
                throw GatunException.invalidArgument(what + ": it says that it has " + features + " features");
            }
            return (int) features;
        }
    }

    MemorySegment handle() {
        return handle;
    }

    @Override
    public void close() {
        xgboost_h.XGBoosterFree(handle);
    }

    /** The one translator of XGBoost's errors. */
    static final class XGBoostCalls {
        /** Texts begin with a time and a place in the library's source, and end with the addresses of its functions. */
        private static final Pattern PLACE = Pattern.compile("^(\\[\\d\\d:\\d\\d:\\d\\d\\] )?\\S+:\\d+: ");

        private static final String STACK = "Stack trace:";

        private XGBoostCalls() {}

        /** Throws an exception with the library's text if a call of this thread failed; {@code code} is its kind. */
        static void check(int returned, ErrorCode code, String what) {
            if (returned != 0) {
                throw new GatunException(code, what + ": " + text(NativeMemory.string(xgboost_h.XGBGetLastError())));
            }
        }

        /** What a text of the library says, in one line. */
        static String text(String said) {
            int stack = said.indexOf(STACK);
            String own = stack < 0 ? said : said.substring(0, stack);
            return PLACE.matcher(own.strip()).replaceFirst("").replaceAll("\\s+", " ");
        }
    }
}
