// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Target;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** A server that gets prepared bytes, from each worker over a connection of its own. */
final class PreparedTarget implements Target {
    /** Opens one connection. */
    interface Opener {
        Exchange open() throws IOException;
    }

    private final Opener opener;
    private final List<Exchange> opened = new CopyOnWriteArrayList<>();

    PreparedTarget(Opener opener) {
        this.opener = opener;
    }

    @Override
    public Caller caller(int worker) {
        try {
            Exchange exchange = opener.open();
            opened.add(exchange);
            return exchange;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Optional<ServerCounters> counters() {
        return Optional.empty();
    }

    @Override
    public void close() {
        opened.forEach(Exchange::close);
    }
}
