// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import java.util.Map;

/** Where finished traces go. Safe for any thread. */
public interface TraceExporter extends AutoCloseable {
    /** The name that protocols give this kind of tracing. */
    String mode();

    /** The settings that protocols show of where the traces go, by name. */
    Map<String, String> settings();

    /** Why nothing can be exported; empty when it can. */
    default String obstacle() {
        return "";
    }

    /** Whether clients may add requests to traces of their own, which are traced whatever rate and count say. */
    boolean joinsClients();

    /** Whether tensors are exported. Where they are not, traces do not hold them. */
    boolean tellsTensors();

    /** Takes the ended trace of a client's request, with its children. Returns at once. */
    void export(RequestTrace trace);

    /** Writes out traces that wait for more; called when the settings have changed. */
    void flush();

    /** Writes out everything and ends. */
    @Override
    void close();
}
