// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

import gatun.runtime.events.ModelLoadEvent.ModelUnloadEvent;
import jdk.jfr.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Starts the events that a recording of the JVM may want. The classes of the events are not touched before the JVM has
 * its recorder, which a recording brings: with the first of them it reads what all its own events are, and that takes a
 * twentieth of a second of each start. Safe for any thread.
 */
public final class FlightRecording {
    private FlightRecording() {}

    /** Whether a recording wants the events of requests now. Costs next to nothing where none does. */
    public static boolean wantsRequests() {
        return FlightRecorder.isInitialized() && RequestEvent.isWanted();
    }

    /** An event of a request that begins now; null where no recording wants it. */
    public static @Nullable RequestEvent request() {
        return FlightRecorder.isInitialized() ? RequestEvent.start() : null;
    }

    /** An event of a run that begins now; null where no recording wants it. */
    public static @Nullable RunEvent run() {
        return FlightRecorder.isInitialized() ? RunEvent.start() : null;
    }

    /** An event of a load that begins now; null where there is no recorder. */
    public static @Nullable ModelLoadEvent load(String model, String version) {
        return FlightRecorder.isInitialized() ? ModelLoadEvent.start(model, version) : null;
    }

    /** The version is loaded. */
    public static void loaded(@Nullable ModelLoadEvent event, String backend) {
        if (event != null) {
            event.succeed(backend);
        }
    }

    /** The version cannot be loaded. */
    public static void notLoaded(@Nullable ModelLoadEvent event, String backend, String why) {
        if (event != null) {
            event.fail(backend, why);
        }
    }

    /** An event of an unload that begins now; null where there is no recorder. */
    public static @Nullable ModelUnloadEvent unload(String model, String version) {
        return FlightRecorder.isInitialized() ? ModelUnloadEvent.start(model, version) : null;
    }

    /** The version's memory has been given back. */
    public static void unloaded(@Nullable ModelUnloadEvent event) {
        if (event != null) {
            event.commit();
        }
    }
}
