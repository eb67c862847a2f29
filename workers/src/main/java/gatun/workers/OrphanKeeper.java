// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import java.io.IOException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A small process beside a server that has workers: when the server ends, in whatever way, it kills the workers that are
 * left, and all that they have started. Workers notice the end of the server themselves, but not one that is stopped or
 * that native code holds. It is a shell, and sleeps until then in the read of a pipe from the server.
 */
final class OrphanKeeper {
    private static final Logger LOG = LoggerFactory.getLogger(OrphanKeeper.class);

    /**
     * Waits for the end of its input. Then kills the processes with the mark, and those in their sessions, until a look
     * finds none; what cleans up after a worker has half a second for that. The server's own session, which is the
     * keeper's too, is left alone, and so is one whose leader lives: without one its number is nobody else's as long as
     * one process of the session lives.
     */
    private static final String SCRIPT = """
            trap '' HUP INT TERM QUIT
            cd /
            mark=$1
            look() {
                read -r line < "$1/stat" || return 1
                set -- ${line##*) }
                state=$1
                session=$4
            }
            look /proc/self || exit
            own=$session
            read -r nothing
            sessions=' '
            grace=0.5
            tries=0
            while [ $tries -lt 200 ]; do
                tries=$((tries + 1))
                found=
                for file in $(grep -lzxF -e "$mark" /proc/[0-9]*/environ); do
                    look "${file%/environ}" || continue
                    found=1
                    [ "$session" = "$own" ] || sessions="$sessions$session "
                done
                if [ -n "$found" ]; then sleep $grace; grace=0; fi
                for file in $(grep -lzxF -e "$mark" /proc/[0-9]*/environ); do
                    folder=${file%/environ}
                    grep -qzxF -e "$mark" "$file" && kill -9 "${folder#/proc/}"
                done
                for folder in /proc/[0-9]*; do
                    [ "$sessions" != ' ' ] && look "$folder" && [ "$state" != Z ] || continue
                    case "$sessions" in
                        *" $session "*)
                            leader=/proc/$session
                            look "$leader" && [ "$state" != Z ] && continue
                            found=1
                            kill -9 "${folder#/proc/}" ;;
                    esac
                done
                [ -z "$found" ] && exit
                sleep 0.05
            done
            """;

    private static boolean watched; // guarded by the class

    private OrphanKeeper() {}

    /** Starts the keeper, unless there is one. */
    static synchronized void watchThisServer() {
        if (watched) {
            return;
        }
        watched = true;
        start();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // nobody waits for a keeper
    private static void start() {
        try {
            String mark = ProcessMark.SERVER_VARIABLE + "=" + ProcessMark.SERVER;
            Process keeper = new ProcessBuilder(List.of("/bin/sh", "-c", SCRIPT, "gatun-orphan-keeper", mark))
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            LOG.debug("Process {} ends the workers when this server has ended", keeper.pid());
            keeper.onExit().thenAccept(ended -> again());
        } catch (IOException e) {
            LOG.warn("Nobody ends workers that are stopped when this server is killed: {}", e.toString());
        }
    }

    /** The keeper was killed: the next worker starts another. */
    private static synchronized void again() {
        watched = false;
    }
}
