/** Gatun as a part of an application: models served inside its own process. */
@org.jspecify.annotations.NullMarked
package gatun.embedded;
