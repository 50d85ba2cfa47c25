/* SPDX-License-Identifier: GPL-2.0 */
/* Xids, the errors of NVIDIA's driver. */
#ifndef KSTALL_XID_H
#define KSTALL_XID_H

#include "base/util.h"

/* What NVIDIA's catalog says is to be done at once; "" for a code that it has no action for. */
const char *ks_xid_action(u32 code);

#endif
