/**
 * Gatun in an application of Spring Boot: a client of a server elsewhere, or models in the application itself, set up by
 * the properties {@code gatun.*}, with their health and metrics in Actuator where that is there.
 */
@org.jspecify.annotations.NullMarked
package gatun.spring;
