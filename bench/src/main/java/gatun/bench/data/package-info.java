/** What is sent and what is expected back: generated or from files. */
@org.jspecify.annotations.NullMarked
package gatun.bench.data;
