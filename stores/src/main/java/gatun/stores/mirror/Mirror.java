// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** A local folder that is kept equal to what lies elsewhere. Safe for any thread; one refreshes at a time. */
public interface Mirror extends AutoCloseable {
    /** The folder: a repository, or for a single model the model's own. It is there once something was fetched. */
    Path folder();

    /**
     * Fetches all for the first time; where the place cannot be reached, takes what the cache holds as a whole since an
     * earlier start.
     *
     * @throws IOException when neither is possible
     */
    void start() throws IOException;

    /** Finds the names of models, and fetches none: new ones get an empty folder until {@link #refresh(String)}. */
    void refreshNames() throws IOException;

    /**
     * Fetches all that has changed. What cannot be fetched stays as it is, and is logged when the reason is a new one.
     *
     * @throws IOException when the place cannot be looked at
     */
    void refresh() throws IOException;

    /**
     * Fetches what has changed of one model.
     *
     * @throws IOException when it cannot be fetched
     */
    void refresh(String model) throws IOException;

    /** Whether what was found last looks like the folder of one model, where folders of models were expected. */
    boolean holdsOneModel();

    /** The reasons of models that could not be fetched, by their names. */
    Map<String, String> failures();

    @Override
    void close();
}
