/*
 * What Gatun calls of POSIX and Linux. jextract reads this header; jextract.args names the symbols that it keeps.
 *
 * Needs glibc 2.34 or later: that is where shm_open moved from librt into libc and where fstat became a real symbol.
 */
#ifndef GATUN_POSIX_H
#define GATUN_POSIX_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create, O_CLOEXEC, F_ADD_SEALS, MAP_ANONYMOUS */
#endif

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#endif
