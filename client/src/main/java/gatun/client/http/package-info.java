/** The client over HTTP/1.1, on TCP, TLS and Unix sockets. */
@org.jspecify.annotations.NullMarked
package gatun.client.http;
