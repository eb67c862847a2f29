/** The client of the server's own process: requests that cross no socket. */
@org.jspecify.annotations.NullMarked
package gatun.server.embedded;
