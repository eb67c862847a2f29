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
     * Waits for the end of its input. Then kills the processes with the mark, and those in the sessions of workers, until
     * a look finds none; what cleans up after a worker has half a second for that. A worker leads its session, so that the session's number is nobody else's while one of its
     * processes lives.
     */
    private static final String SCRIPT = """
            trap '' HUP INT TERM QUIT
            cd /
            read -r nothing
            sessions=' '
            grep -lzxF -e "$1" /proc/[0-9]*/environ && sleep 0.5
            tries=0
            while [ $tries -lt 200 ]; do
                tries=$((tries + 1))
                found=
                for file in $(grep -lzxF -e "$1" /proc/[0-9]*/environ); do
                    grep -qzxF -e "$1" "$file" || continue
                    found=1
                    folder=${file%/environ}
                    pid=${folder#/proc/}
                    read -r line < "$folder/stat" || continue
                    set -- "$1" ${line##*) }
                    if [ "$5" = "$pid" ]; then sessions="$sessions$pid "; fi
                    kill -9 "$pid"
                done
                if [ "$sessions" != ' ' ]; then
                    for folder in /proc/[0-9]*; do
                        read -r line < "$folder/stat" || continue
                        set -- "$1" ${line##*) }
                        case "$sessions" in
                            *" $5 "*) if [ "$2" != Z ] && [ ! -e "/proc/$5" ]; then found=1; kill -9 "${folder#/proc/}"; fi ;;
                        esac
                    done
                fi
                [ -z "$found" ] && exit
                sleep 0.05
            done
            """;

    private static boolean watched; // guarded by the class

    private OrphanKeeper() {}

    /** Has the end of this server noticed from now on. */
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

    /** Somebody has killed it: the next worker brings another. */
    private static synchronized void again() {
        watched = false;
    }
}
