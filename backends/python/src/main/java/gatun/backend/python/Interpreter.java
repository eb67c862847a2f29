// SPDX-License-Identifier: Apache-2.0
package gatun.backend.python;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.workers.ShortProcess;
import gatun.workers.WorkerProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A Python that runs workers, with variables that replace the server's; a PATH goes in front of the present one. */
record Interpreter(String executable, Map<String, String> environment, Path main, Need need) {
    private static final String CHECK =
            "import sys; assert sys.version_info >= (3, 9), 'Python ' + sys.version + ' is older than 3.9'; import ";

    /** What a Python has to have. */
    record Need(String backend, String modules) {
        private String text() {
            return modules.replace(", ", " and ");
        }

        private String packages() {
            return "python3-" + modules.replace(", ", " python3-");
        }
    }

    private static final int CHECK_SECONDS = 60;

    /** Checks that it can run workers. Throws {@link GatunException} UNAVAILABLE with what is missing. */
    void check() {
        String reason;
        try {
            ShortProcess check = ShortProcess.run(builder(List.of("-c", CHECK + need.modules())), CHECK_SECONDS);
            if (check.succeeded()) {
                return;
            }
            reason = check.lastLine();
        } catch (IOException e) {
            reason = String.valueOf(e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            reason = "the check was interrupted";
        }
        throw new GatunException(
                ErrorCode.UNAVAILABLE,
                "backend " + need.backend() + " needs Python 3.9 or newer with " + need.text() + ", and '" + executable
                        + "' is none: " + reason + "; install it, for example with 'apt-get install " + need.packages()
                        + "', or name another by --backend-config=" + need.backend() + ",executable=FILE");
    }

    WorkerProcess.Command command(String name) {
        return new WorkerProcess.Command(name, builder(List.of("-u", main.toString())));
    }

    private ProcessBuilder builder(List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(executable));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command);
        environment.forEach((variable, value) -> builder.environment()
                .merge(variable, value, (present, added) -> variable.endsWith("PATH") ? added + ":" + present : added));
        // Models' folders stay as they are.
        builder.environment().put("PYTHONDONTWRITEBYTECODE", "1");
        return builder;
    }

    String description() {
        return Optional.of(executable).filter(path -> path.contains("/")).orElse(executable + " of the PATH");
    }
}
