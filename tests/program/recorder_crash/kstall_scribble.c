// SPDX-License-Identifier: GPL-2.0
/*
 * Overwrites the pages of a reserved piece of memory that have the given text in them, as a
 * firmware or another kernel might. It does not stay loaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/string.h>

static unsigned long start, size;
static char *text = "kstall recorder boot";
module_param(start, ulong, 0);
MODULE_PARM_DESC(start, "physical address (default 0)");
module_param(size, ulong, 0);
MODULE_PARM_DESC(size, "bytes (default 0)");
module_param(text, charp, 0);
MODULE_PARM_DESC(text, "what the page has in it");

static bool has_text(const char *page)
{
	size_t n = strlen(text), i;

	for (i = 0; i + n <= PAGE_SIZE; i++) {
		if (!memcmp(page + i, text, n))
			return true;
	}
	return false;
}

static int __init kstall_scribble_init(void)
{
	unsigned long at;
	int n = 0;

	/* Some may hold what a former boot has left there. */
	for (at = start; at < start + size; at += PAGE_SIZE) {
		char *page = phys_to_virt(at);

		if (!has_text(page))
			continue;
		memset(page, 0xff, PAGE_SIZE);
		pr_info("page %#lx overwritten\n", at);
		n++;
	}
	if (n)
		return -ENODEV;
	pr_err("no page has \"%s\"\n", text);
	return -ENOENT;
}
module_init(kstall_scribble_init);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("overwrites pages");
