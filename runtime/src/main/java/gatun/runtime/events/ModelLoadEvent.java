// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

import gatun.runtime.events.RequestEvent.EventText;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A version of a model that was loaded, or could not be. For one thread. */
@Name("gatun.ModelLoad")
@Label("Model Load")
@Description("A version of a model was loaded, or could not be")
@Category({"Gatun", "Models"})
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // recordings read the fields
public final class ModelLoadEvent extends Event {
    @Label("Model")
    private final String model;

    @Label("Version")
    @Description("Empty where the model has no version to load")
    private final String version;

    @Label("Backend")
    @Description("The backend or the platform, as far as the configuration was known")
    private String backend = "";

    @Label("Loaded")
    private boolean loaded;

    @Label("Reason")
    @Description("Why it could not be loaded; no more than the first 256 characters")
    private String reason = "";

    private ModelLoadEvent(String model, String version) {
        this.model = EventText.cut(model);
        this.version = version;
    }

    static ModelLoadEvent start(String model, String version) {
        ModelLoadEvent event = new ModelLoadEvent(model, version);
        event.begin();
        return event;
    }

    void succeed(String backendName) {
        backend = backendName;
        loaded = true;
        commit();
    }

    void fail(String backendName, String why) {
        backend = backendName;
        reason = EventText.cut(why);
        commit();
    }

    /** A version of a model that was unloaded. For one thread. */
    @Name("gatun.ModelUnload")
    @Label("Model Unload")
    @Description("A version of a model was unloaded; the duration includes the wait for its running requests")
    @Category({"Gatun", "Models"})
    @StackTrace(false)
    @SuppressWarnings("UnusedVariable") // recordings read the fields
    public static final class ModelUnloadEvent extends Event {
        @Label("Model")
        private final String model;

        @Label("Version")
        private final String version;

        private ModelUnloadEvent(String model, String version) {
            this.model = EventText.cut(model);
            this.version = version;
        }

        /** An unload that begins now; committed when its memory has been given back. */
        static ModelUnloadEvent start(String model, String version) {
            ModelUnloadEvent event = new ModelUnloadEvent(model, version);
            event.begin();
            return event;
        }
    }
}
