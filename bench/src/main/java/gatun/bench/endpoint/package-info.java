/** The servers under load, by protocol and transport. */
@org.jspecify.annotations.NullMarked
package gatun.bench.endpoint;
