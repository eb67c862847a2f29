// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;

/** A version of a model that was unloaded. For one thread. */
@Name("gatun.ModelUnload")
@Label("Model Unload")
@Description("A version of a model was unloaded; the duration includes the wait for its running requests")
@Category({"Gatun", "Models"})
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // recordings read the fields
public final class ModelUnloadEvent extends Event {
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
