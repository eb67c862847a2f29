// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

/** How a process has ended. The text, with its last words, completes a sentence that begins with the process. */
public record WorkerEnd(Reason reason, String text) {
    /** What ends processes. */
    public enum Reason {
        /** A signal, as of a crash or of somebody who kills it. */
        SIGNAL("signal"),
        /** Itself, or it could not be started. */
        EXIT("exit"),
        /** The server, because it took too long or too much, or said what makes no sense. */
        SERVER("server");

        private final String label;

        Reason(String label) {
            this.label = label;
        }

        /** Its name in metrics. */
        public String label() {
            return label;
        }
    }
}
