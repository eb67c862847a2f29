/*
 * Asks TensorFlow's own library what our header cannot be compared with another for: argv[1] is the library, and PROBE_LIST a file of the
 * macros below, one a line, which the test writes from the argument file.
 */
#include "tensorflow/tensorflow.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static void *library;

#define FUNCTION(name) printf("function %s %d\n", #name, dlsym(library, #name) != NULL);
#define TYPE(name) printf("type %s %zu\n", #name, type_size(name));

/* Two strings side by side, of which the second is long: right only if an element is as large as we say, and zeros are an empty one. */
static int strings_lie_as_we_say(void) {
    void (*copy)(TF_TString *, const char *, size_t) = (void (*)(TF_TString *, const char *, size_t))dlsym(library, "TF_StringCopy");
    const char *(*data)(const TF_TString *) = (const char *(*)(const TF_TString *))dlsym(library, "TF_StringGetDataPointer");
    size_t (*size)(const TF_TString *) = (size_t(*)(const TF_TString *))dlsym(library, "TF_StringGetSize");
    void (*dealloc)(TF_TString *) = (void (*)(TF_TString *))dlsym(library, "TF_StringDealloc");
    TF_TString strings[3];
    char text[1000];
    memset(strings, 0, sizeof strings);
    memset(text, 'x', sizeof text);
    int right = size(&strings[0]) == 0;
    copy(&strings[0], text, 3);
    copy(&strings[1], text, sizeof text);
    copy(&strings[2], text, 22);
    right &= size(&strings[0]) == 3 && size(&strings[1]) == sizeof text && size(&strings[2]) == 22;
    for (int i = 0; i < 3; i++) {
        right &= memcmp(data(&strings[i]), text, size(&strings[i])) == 0;
        dealloc(&strings[i]);
    }
    return right;
}

int main(int argc, char **argv) {
    library = dlopen(argv[argc - 1], RTLD_NOW);
    if (library == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    size_t (*type_size)(TF_DataType) = (size_t(*)(TF_DataType))dlsym(library, "TF_DataTypeSize");
#include PROBE_LIST
    printf("strings as-we-say %d\n", strings_lie_as_we_say());
    return 0;
}
