// SPDX-License-Identifier: GPL-2.0
/*
 * kstall_fault - lets one module run out of memory, at each place twice
 *
 *	echo "MODULE 1" >/sys/kernel/debug/kstall_fault	an allocation fails
 *	echo "MODULE 0" >/sys/kernel/debug/kstall_fault	none does
 *	cat /sys/kernel/debug/kstall_fault		failures since the last write: 0 or 1
 *
 * Only allocations count that have a function of MODULE on their stack: its own, and those of the
 * kernel on its behalf, whichever task makes them. A place is such a stack: in one try its first
 * allocation fails, in another its second, which finds what a loop has done before. Works on any
 * kernel: the allocator's functions are hooked by kprobes, and the one that shall fail is not
 * entered but returns NULL.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#define MAX_DEPTH	64

/* Names differ between kernels; what is not there is not called. */
static const char * const functions[] = {
	"__kmalloc", "__kmalloc_noprof",
	"kmalloc_trace", "__kmalloc_cache_noprof",
	"kmalloc_node_trace", "__kmalloc_cache_node_noprof",
	"__kmalloc_node", "__kmalloc_node_noprof",
	"__kmalloc_node_track_caller", "__kmalloc_node_track_caller_noprof",
	"kmem_cache_alloc", "kmem_cache_alloc_noprof",
	"kmem_cache_alloc_node", "kmem_cache_alloc_node_noprof",
	"__vmalloc_node_range", "__vmalloc_node_range_noprof",
	"pcpu_alloc", "pcpu_alloc_noprof",
	"__get_free_pages", "get_free_pages_noprof",
};

static struct kprobe probes[ARRAY_SIZE(functions)];
static char module[MODULE_NAME_LEN];
static atomic_t armed;
static atomic_t failed;

/*
 * struct fault_place - a stack, by its hash
 * @seen: allocations since the last write
 * @failed: of them the first has failed in one try, the second, where there is a loop, in another
 */
struct fault_place {
	u32 hash;
	unsigned int seen;
	unsigned int failed;
};

static struct fault_place places[4096];
static unsigned int nr_places;
static DEFINE_RAW_SPINLOCK(places_lock);

/* Adds @addr to @hash. Return: it is in the text of the chosen module. */
static bool fault_hash(unsigned long addr, u32 *hash)
{
	char sym[KSYM_SYMBOL_LEN];
	char *name;

	if (addr < MODULES_VADDR || addr >= MODULES_END || within_module(addr, THIS_MODULE)) {
		*hash = jhash(&addr, sizeof(addr), *hash);
		return false;
	}
	/* "function+0x1/0x2 [module]": the next time it is loaded it is elsewhere */
	sprint_symbol(sym, addr);
	*hash = jhash(sym, strlen(sym), *hash);
	name = strchr(sym, '[');
	if (!name)
		return false;
	name++;
	name[strcspn(name, " ]")] = '\0';
	return !strcmp(name, module);
}

/* Return: the stack is one of the chosen module's; its hash is in @hash. */
static bool fault_counts(u32 *hash)
{
	unsigned long stack[MAX_DEPTH];
	unsigned int i, n;
	bool theirs = false;

	*hash = 0;
	n = stack_trace_save(stack, MAX_DEPTH, 0);
	for (i = 0; i < n; i++)
		theirs |= fault_hash(stack[i], hash);
	return theirs;
}

/* Return: it is this one's turn. */
static bool fault_turn(u32 hash)
{
	unsigned long flags;
	unsigned int i;
	bool turn = false;

	raw_spin_lock_irqsave(&places_lock, flags);
	for (i = 0; i < nr_places && places[i].hash != hash; i++)
		;
	if (i == nr_places && i < ARRAY_SIZE(places))
		places[nr_places++].hash = hash;
	if (i < nr_places && ++places[i].seen == places[i].failed + 1 && places[i].failed < 2) {
		places[i].failed++;
		turn = true;
	}
	raw_spin_unlock_irqrestore(&places_lock, flags);
	return turn;
}

static void fault_forget_seen(void)
{
	unsigned long flags;
	unsigned int i;

	raw_spin_lock_irqsave(&places_lock, flags);
	for (i = 0; i < nr_places; i++)
		places[i].seen = 0;
	raw_spin_unlock_irqrestore(&places_lock, flags);
}

/* What is called in place of the allocator. */
static noinline notrace void *fault_null(void)
{
	return NULL;
}

static int fault_hit(struct kprobe *kp, struct pt_regs *regs)
{
	gfp_t gfp = (__force gfp_t)regs_get_kernel_argument(regs, 1);
	u32 hash;

	if (!atomic_read(&armed) || !in_task())
		return 0;
	if (kp->symbol_name[0] != 'p' && gfp & __GFP_NOFAIL)
		return 0;
	if (!fault_counts(&hash) || !fault_turn(hash))
		return 0;
	atomic_set(&armed, 0);
	atomic_inc(&failed);
	regs->ip = (unsigned long)fault_null;
	return 1;
}

static int fault_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "%d\n", atomic_read(&failed));
	return 0;
}

static int fault_open(struct inode *inode, struct file *file)
{
	return single_open(file, fault_show, NULL);
}

static ssize_t fault_write(struct file *file, const char __user *ubuf, size_t len, loff_t *pos)
{
	char buf[sizeof(module) + 16];
	int n;

	if (len >= sizeof(buf) || copy_from_user(buf, ubuf, len))
		return -EINVAL;
	buf[len] = '\0';
	atomic_set(&armed, 0);
	synchronize_rcu();	/* no probe reads the name any more */
	if (sscanf(buf, "%55s %d", module, &n) != 2)
		return -EINVAL;
	fault_forget_seen();
	atomic_set(&failed, 0);
	atomic_set(&armed, n);
	return len;
}

static const struct file_operations fault_fops = {
	.owner = THIS_MODULE,
	.open = fault_open,
	.read = seq_read,
	.write = fault_write,
	.llseek = seq_lseek,
	.release = single_release,
};

static struct dentry *dentry;

static void fault_disarm(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		if (probes[i].addr)
			unregister_kprobe(&probes[i]);
	}
}

static int __init fault_init(void)
{
	unsigned int i, nr = 0;

	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i].symbol_name = functions[i];
		probes[i].pre_handler = fault_hit;
		if (register_kprobe(&probes[i]))
			probes[i].addr = NULL;
		else
			nr++;
	}
	if (nr < 6) {
		pr_err("only %u functions of the allocator found\n", nr);
		fault_disarm();
		return -ENOENT;
	}
	dentry = debugfs_create_file("kstall_fault", 0600, NULL, NULL, &fault_fops);
	return 0;
}

static void __exit fault_exit(void)
{
	debugfs_remove(dentry);
	fault_disarm();
}

module_init(fault_init);
module_exit(fault_exit);

MODULE_DESCRIPTION("kstall: no memory, on demand");
MODULE_LICENSE("GPL");
