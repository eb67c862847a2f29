/*
 * Prints what the C compiler makes of the structs and constants that Gatun uses, for a test to compare with the classes
 * that jextract generated. PROBE_HEADER is the header under test and PROBE_LIST a file of the macros below, one a line,
 * which the test writes from the generated classes and the argument files.
 */
#define _GNU_SOURCE
#include PROBE_HEADER
#include <stddef.h>
#include <stdio.h>

#define SIZE(type) printf("size %s %zu\n", #type, sizeof(type));
#define OFFSET(type, field) printf("offset %s.%s %zu\n", #type, #field, offsetof(type, field));
#define CONSTANT(name) printf("constant %s %lld\n", #name, (long long)(name));

int main(void) {
#include PROBE_LIST
    return 0;
}
