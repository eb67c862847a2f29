/*
 * Streaming copy: copies memory that is larger than the caches with stores that go past them.
 *
 * An ordinary store reads the line that it is going to overwrite. Where everything is overwritten that read is for nothing
 * and makes up a third of the traffic, which is what limits a copy of this size.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define EXPORT __attribute__((visibility("default")))

/* Copies byte_size bytes; the two must not overlap. Where the machine has no such stores it is memcpy. */
EXPORT void gatun_copy_streaming(void *target, const void *source, size_t byte_size) {
#if defined(__SSE2__)
    enum { LINE = 64 };
    char *to = target;
    const char *from = source;
    size_t head = (LINE - (uintptr_t)to % LINE) % LINE;
    if (head > byte_size) {
        head = byte_size;
    }
    memcpy(to, from, head);
    to += head;
    from += head;
    byte_size -= head;
    for (; byte_size >= LINE; byte_size -= LINE, to += LINE, from += LINE) {
        __m128i first = _mm_loadu_si128((const __m128i *)from);
        __m128i second = _mm_loadu_si128((const __m128i *)(from + 16));
        __m128i third = _mm_loadu_si128((const __m128i *)(from + 32));
        __m128i fourth = _mm_loadu_si128((const __m128i *)(from + 48));
        _mm_stream_si128((__m128i *)to, first);
        _mm_stream_si128((__m128i *)(to + 16), second);
        _mm_stream_si128((__m128i *)(to + 32), third);
        _mm_stream_si128((__m128i *)(to + 48), fourth);
    }
    _mm_sfence(); /* such stores are not ordered with the one that tells another thread of them */
    memcpy(to, from, byte_size);
#else
    memcpy(target, source, byte_size);
#endif
}
