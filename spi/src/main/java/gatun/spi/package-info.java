/**
 * The interfaces that an engine implements to be a {@link gatun.spi.Backend}, and an inference as it sees it. A backend
 * has models, a model has instances, and an instance runs one {@link gatun.spi.Execution} at a time: the requests of
 * one batch with their tensors. A backend needs this module and {@code gatun.memory}, nothing else of the server.
 */
@NullMarked
package gatun.spi;

import org.jspecify.annotations.NullMarked;
