/**
 * Load and its measurement: when requests are sent, by how many threads, and when enough was measured. Knows no
 * protocol.
 */
@org.jspecify.annotations.NullMarked
package gatun.bench.load;
