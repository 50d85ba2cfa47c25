// SPDX-License-Identifier: GPL-2.0
/*
 * NVIDIA's catalog of Xids, column "immediate action"
 * (docs.nvidia.com/deploy/xid-errors/analyzing-xid-catalog.html, October 2025).
 */
#include "base/xid.h"

static const struct {
	u16 first, last;
	const char *action;
} actions[] = {
	{ 13, 13, "restart the program" },
	{ 31, 32, "restart the program" },
	{ 43, 45, "see the Xid before it" },
	{ 46, 46, "reset the GPU" },
	{ 48, 48, "drain, then see Xid 63, 64, 94 or 95" },
	{ 62, 62, "reset the GPU" },
	{ 63, 63, "none: a row was remapped" },
	{ 64, 64, "reset the GPU" },
	{ 69, 69, "restart the program" },
	{ 74, 74, "check NVLink" },
	{ 79, 79, "restart the machine" },
	{ 92, 92, "none: watch it" },
	{ 94, 94, "restart the program" },
	{ 95, 95, "reset the GPU" },
	{ 109, 110, "reset the GPU" },
	{ 119, 120, "reset the GPU" },
	{ 136, 136, "reset the GPU" },
	{ 140, 140, "reset the GPU" },
	{ 143, 143, "reset the GPU" },
	{ 144, 150, "check NVLink" },
	{ 154, 154, "what its text says" },
	{ 155, 156, "reset the GPU" },
	{ 158, 158, "reset the GPU" },
};

const char *ks_xid_action(u32 code)
{
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (code >= actions[i].first && code <= actions[i].last)
			return actions[i].action;
	}
	return "";
}
