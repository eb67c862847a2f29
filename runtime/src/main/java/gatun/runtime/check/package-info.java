/** What is wrong with a model repository: found without serving it, told with file, line and what to write instead. */
@org.jspecify.annotations.NullMarked
package gatun.runtime.check;
