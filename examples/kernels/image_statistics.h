/*
 * Mean and standard deviation of the colours of ImageNet's pictures, red first, which most image networks expect to be
 * taken out. For CUDA C, which defines GATUN_CONSTANT, and for plain C.
 */
#ifndef GATUN_IMAGE_STATISTICS_H
#define GATUN_IMAGE_STATISTICS_H

#ifndef GATUN_CONSTANT
#define GATUN_CONSTANT static const
#endif

enum { CHANNELS = 3 };

GATUN_CONSTANT float image_mean[CHANNELS] = {0.485f, 0.456f, 0.406f};
GATUN_CONSTANT float image_deviation[CHANNELS] = {0.229f, 0.224f, 0.225f};

#endif
