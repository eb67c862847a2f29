/* Images of modules: the names of the kernels in PTX and in ELF files. */
#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

/* The newest PTX that CUDA 13.0's driver translates, as ten times its version. */
enum { NEWEST_PTX = 90 };
static const uint32_t FATBIN = 0xBA55ED50;
static const uint32_t FATBIN_WRAPPER = 0x466243B1;

struct names {
    char **list;
    size_t count;
};

static void add_name(struct names *names, const char *name, size_t length) {
    names->list = must(realloc(names->list, (names->count + 2) * sizeof(char *)));
    names->list[names->count++] = must(strndup(name, length));
    names->list[names->count] = NULL;
}

static void free_names(struct names *names) {
    for (size_t i = 0; i < names->count; i++) {
        free(names->list[i]);
    }
    free(names->list);
}

/* The text without its comments: the caller's to free. */
static char *without_comments(const char *text) {
    char *copy = must(malloc(strlen(text) + 1));
    char *to = copy;
    while (*text != 0) {
        if (text[0] == '/' && text[1] == '/') {
            text += strcspn(text, "\n");
        } else if (text[0] == '/' && text[1] == '*') {
            const char *end = strstr(text + 2, "*/");
            text = end == NULL ? text + strlen(text) : end + 2;
        } else {
            *to++ = *text++;
        }
    }
    *to = 0;
    return copy;
}

static const char *skip_space(const char *text) {
    return text + strspn(text, " \t\r\n");
}

static size_t identifier_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || text[length] == '_' || text[length] == '$' || text[length] == '%') {
        length++;
    }
    return length;
}

static bool braces_match(const char *text) {
    int depth = 0;
    for (; *text != 0 && depth >= 0; text++) {
        depth += (*text == '{') - (*text == '}');
    }
    return depth == 0;
}

static CUresult refuse(CUresult result, const char **fault, const char *why) {
    *fault = why;
    return result;
}

static CUresult read_ptx(const char *text, struct names *names, const char **fault) {
    char *end;
    long major = strtol(text + strlen(".version"), &end, 10);
    long minor = *end == '.' ? strtol(end + 1, &end, 10) : -1;
    if (major <= 0 || minor < 0) {
        return refuse(CUDA_ERROR_INVALID_PTX, fault, "ptxas fatal: .version without a number");
    }
    if (major * 10 + minor > NEWEST_PTX) {
        return refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, fault, "ptxas fatal: .version is newer than 9.0");
    }
    if (strncmp(skip_space(end), ".target", strlen(".target")) != 0) {
        return refuse(CUDA_ERROR_INVALID_PTX, fault, "ptxas fatal: no .target after .version");
    }
    if (!braces_match(text)) {
        return refuse(CUDA_ERROR_INVALID_PTX, fault, "ptxas fatal: braces do not match");
    }
    names->list = must(calloc(1, sizeof(char *)));
    for (const char *entry = text; (entry = strstr(entry, ".entry")) != NULL;) {
        entry = skip_space(entry + strlen(".entry"));
        size_t length = identifier_length(entry);
        if (length == 0) {
            return refuse(CUDA_ERROR_INVALID_PTX, fault, "ptxas fatal: .entry without a name");
        }
        add_name(names, entry, length);
    }
    return CUDA_SUCCESS;
}

/* Each kernel has a section ".text.NAME". */
static CUresult read_elf(const unsigned char *image, struct names *names) {
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr) ||
        header.e_shstrndx >= header.e_shnum) {
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (header.e_machine != EM_CUDA) {
        return CUDA_ERROR_NO_BINARY_FOR_GPU;
    }
    Elf64_Shdr texts;
    memcpy(&texts, image + header.e_shoff + (size_t)header.e_shstrndx * sizeof texts, sizeof texts);
    names->list = must(calloc(1, sizeof(char *)));
    for (size_t i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section;
        memcpy(&section, image + header.e_shoff + i * sizeof section, sizeof section);
        const char *name = (const char *)image + texts.sh_offset + section.sh_name;
        if (section.sh_type == SHT_PROGBITS && strncmp(name, ".text.", strlen(".text.")) == 0) {
            const char *kernel = name + strlen(".text.");
            add_name(names, kernel, strlen(kernel));
        }
    }
    return CUDA_SUCCESS;
}

CUresult read_image(const void *image, char ***list, const char **fault) {
    const unsigned char *bytes = image;
    uint32_t magic;
    memcpy(&magic, bytes, 1); /* an empty text is one byte long */
    if (bytes[0] != 0 && bytes[1] != 0 && bytes[2] != 0) {
        memcpy(&magic, bytes, sizeof magic);
        if (magic == FATBIN || magic == FATBIN_WRAPPER) {
            *list = NULL; /* what is inside is compressed */
            return CUDA_SUCCESS;
        }
    }
    struct names names = {NULL, 0};
    CUresult result = refuse(CUDA_ERROR_INVALID_IMAGE, fault, "neither PTX nor a cubin nor a fatbin");
    if (memchr(bytes, 0, SELFMAG) == NULL && memcmp(bytes, ELFMAG, SELFMAG) == 0) {
        result = read_elf(bytes, &names);
    } else {
        char *text = without_comments(image);
        const char *start = skip_space(text);
        if (strncmp(start, ".version", strlen(".version")) == 0) {
            result = read_ptx(start, &names, fault);
        }
        free(text);
    }
    if (result != CUDA_SUCCESS) {
        free_names(&names);
    }
    *list = result == CUDA_SUCCESS ? names.list : NULL;
    return result;
}
