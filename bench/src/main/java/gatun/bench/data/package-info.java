/** The data that is sent and the data that is expected back, generated or read from files. */
@org.jspecify.annotations.NullMarked
package gatun.bench.data;
