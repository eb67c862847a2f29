/** The command {@code gatun bench}: its flags, and what it does with them. */
@org.jspecify.annotations.NullMarked
package gatun.bench;
