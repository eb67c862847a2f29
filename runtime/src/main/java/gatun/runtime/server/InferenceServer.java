// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

/** The server without its sockets, for those who hand it on: each user asks for the part that it needs. Thread-safe. */
public interface InferenceServer extends InferenceService, RepositoryControl, ServerObservation, AutoCloseable {
    /** Refuses new requests, waits for running ones and unloads all models. */
    @Override
    void close();
}
