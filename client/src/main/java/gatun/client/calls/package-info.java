/**
 * What a call to a server has in common over all protocols: its deadline, its attempts, and how TLS knows the server.
 */
@org.jspecify.annotations.NullMarked
package gatun.client.calls;
