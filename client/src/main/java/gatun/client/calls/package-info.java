/**
 * The properties of a call to a server that all protocols share: its deadline, its attempts, and how TLS knows the
 * server.
 */
@org.jspecify.annotations.NullMarked
package gatun.client.calls;
