// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

/**
 * Some rows of a batch, which a thread runs beside those that run the others. Prepared by the instance's thread, and not
 * touched by it until the run has ended. Owns its arguments.
 */
final class Part implements AutoCloseable {
    private final RunCores cores;
    private final RunArguments arguments;

    /** @param cores where others run meanwhile */
    Part(RunCores cores, RunArguments arguments) {
        this.cores = cores;
        this.arguments = arguments;
    }

    /** Takes {@code count} rows of a batch of {@code rows}, from {@code first} on. */
    void bind(RunArguments whole, long rows, long first, long count) {
        arguments.bindRows(whole, rows, first, count);
    }

    /** Runs them on the calling thread; the address of the status, 0 for success. */
    long run(Session session, RunOptions options) {
        int core = cores.enter();
        try {
            return arguments.run(session, options);
        } finally {
            cores.leave(core);
        }
    }

    @Override
    public void close() {
        arguments.close();
    }
}
