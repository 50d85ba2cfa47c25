// SPDX-License-Identifier: GPL-2.0
/*
 * alloc.c - allocates buffers in the memory of a qxl GPU
 *
 *	alloc NODE COUNT MIB
 *
 * Prints "pid=<pid>" and how many it got; they are freed when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drm_uapi.h"

int main(int argc, char **argv)
{
	struct drm_qxl_alloc alloc;
	int fd, i, count;

	if (argc != 4)
		return 2;
	fd = open(argv[1], O_RDWR);
	if (fd < 0) {
		perror(argv[1]);
		return 1;
	}
	count = atoi(argv[2]);
	for (i = 0; i < count; i++) {
		alloc.size = atoi(argv[3]) << 20;
		if (ioctl(fd, DRM_IOCTL_QXL_ALLOC, &alloc) < 0) {
			fprintf(stderr, "buffer %d: %s\n", i, strerror(errno));
			return 1;
		}
	}
	printf("pid=%d buffers=%d\n", getpid(), i);
	return 0;
}
