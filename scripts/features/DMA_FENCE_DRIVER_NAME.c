// SPDX-License-Identifier: GPL-2.0
/*
 * Are there helpers that read a fence's names safely?
 *
 * include/linux/dma-fence.h; 506aa8b02a8d ("dma-fence: Add safe access helpers and
 * document the rules"), v6.17.
 */
#include <linux/dma-fence.h>

const char *test_DMA_FENCE_DRIVER_NAME(struct dma_fence *fence);
const char *test_DMA_FENCE_DRIVER_NAME(struct dma_fence *fence)
{
#ifndef OTHERWISE
	return (__force const char *)dma_fence_driver_name(fence) ?:
	       (__force const char *)dma_fence_timeline_name(fence);
#else
	return fence->ops->get_driver_name(fence);
#endif
}
