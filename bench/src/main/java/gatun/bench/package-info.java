/** The command {@code gatun bench}: its flags, and its runs. */
@org.jspecify.annotations.NullMarked
package gatun.bench;
