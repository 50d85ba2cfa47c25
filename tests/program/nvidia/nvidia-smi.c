// SPDX-License-Identifier: GPL-2.0
/* nvidia-smi -q: asks the driver for everything, under its locks. */
#include <err.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "mock_nvidia.h"

int main(void)
{
	int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		err(1, "/dev/nvidiactl");
	for (int i = 0; i < 20; i++) {
		struct mock_nvidia arg = { .ns = 20000000, .gpu_only = i % 4 == 3 };

		if (ioctl(fd, MOCK_RM_CONTROL, &arg))
			err(1, "mock_nvidia");
	}
	return 0;
}
