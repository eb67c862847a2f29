// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.memory.tensor.GatunException;
import gatun.memory.threads.SupervisedThread;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.server.RepositoryControl;
import gatun.server.settings.ModelListSettings;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads the file that lists models again and again, on a thread of its own, and has the server follow it. */
final class ModelListPoll implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ModelListPoll.class);

    private final CountDownLatch closed = new CountDownLatch(1);
    private final ModelListSettings settings;
    private final RepositoryControl server;

    /** The models that the file listed when it was last read; used by the thread only. */
    private List<ListedModel> latest;

    private ModelListPoll(ModelListSettings settings, RepositoryControl server, List<ListedModel> latest) {
        this.settings = settings;
        this.server = server;
        this.latest = latest;
    }

    /** Starts the thread; the server serves the models that the file lists now. */
    static ModelListPoll start(ModelListSettings settings, RepositoryControl server) {
        ModelListPoll poll = new ModelListPoll(settings, server, server.listed());
        Thread thread = SupervisedThread.unstarted("model-list-poll", poll::run);
        thread.start();
        return poll;
    }

    private void run() {
        while (!isClosedWithin()) {
            look();
        }
    }

    private boolean isClosedWithin() {
        try {
            return closed.await(settings.filePoll().toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            // The interrupt was left by something that the last look called: nobody interrupts this thread to end it.
            return closed.getCount() == 0;
        }
    }

    private void look() {
        try {
            List<ListedModel> models = settings.read();
            if (!List.copyOf(models).equals(latest)) {
                latest = models;
                server.replaceListed(models);
                LOG.info("The list of models has changed and is followed");
            }
        } catch (GatunException e) {
            LOG.warn("The list of models is left as it is: {}", e.getMessage());
        }
    }

    /** Looks no more, and does not wait for the look under way. */
    @Override
    public void close() {
        closed.countDown();
    }
}
