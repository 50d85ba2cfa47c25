/* SPDX-License-Identifier: GPL-2.0 */
#include <linux/types.h>
struct pcie_tlp_log { u32 dw[4]; };
