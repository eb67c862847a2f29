/** Finds problems of a model repository without serving it, and tells them with file, line and advice. */
@org.jspecify.annotations.NullMarked
package gatun.runtime.check;
