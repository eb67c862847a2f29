/**
 * One HTTP/1.1 connection, from the accepted socket to the last response. It has one virtual thread. Helidon owns the
 * loop that speaks HTTP; this package lies beneath and before it, so that the bytes of tensors go between socket and
 * native memory without passing the heap.
 *
 * <h2>The way of a request</h2>
 *
 * <ol>
 *   <li>{@link gatun.http.connection.ClientConnection} is made for each accepted socket, by
 *       {@link gatun.http.connection.HttpConnections}. It gives Helidon what the client sends
 *       ({@link gatun.http.connection.HelidonDataReader}) over a {@link gatun.http.connection.ClientSocket}, with TLS or
 *       without.
 *   <li>Nearly all requests are plain: their head is read where it lies by
 *       {@link gatun.http.connection.FastPathReader}, and Helidon never learns of them. The head of any other goes to
 *       Helidon, which comes back through {@link gatun.http.connection.RequestRouting}. Either way the request is an
 *       {@link gatun.http.connection.IncomingRequest}.
 *   <li>An {@link gatun.http.connection.Exchange} is the request and its response for the protocol that answers: the
 *       first of the {@link gatun.http.connection.Routes} that knows the path reads the body into memory of its choice
 *       and writes the response from where it lies.
 * </ol>
 *
 * <h2>Who else looks at a connection</h2>
 *
 * A client that stays silent, sends too slowly or does not take its response is given up
 * ({@link gatun.http.connection.ClientPresence.ClientWait}). One that leaves while its request waits is noticed by a
 * watch that reads without waiting ({@link gatun.http.connection.ClientPresence}). The listener that stops ends what
 * has no request to answer ({@link gatun.http.connection.StopNotice.RequestActivity},
 * {@link gatun.http.connection.StopNotice}).
 */
@NullMarked
package gatun.http.connection;

import org.jspecify.annotations.NullMarked;
