// SPDX-License-Identifier: GPL-2.0
/* Errors of a GPU or its switch, shown beside the step in which they came: they take no time of any thread. */
#include <string.h>

#include "base/xid.h"
#include "engine/engine.h"

#define MAX_FAULTS 256		/* the first so many: what follows is mostly due to them */

KS_SAME_FIELD(nvidia_dev_xid, nvswitch_dev_sxid, dev);
KS_SAME_FIELD(nvidia_dev_xid, nvswitch_dev_sxid, error_code);
KS_SAME_FIELD(nvidia_dev_xid, nvswitch_dev_sxid, msg);

static void note(struct ks_engine *e, const struct ks_event *ev, const char *kind, const char *action)
{
	struct ks_fault *f;

	if (e->nr_faults++ >= MAX_FAULTS)
		return;
	if (!e->faults)
		e->faults = ks_alloc(MAX_FAULTS * sizeof(*f));
	f = &e->faults[e->nr_faults - 1];
	f->ts = ev->ts;
	f->kind = kind;
	f->code = KS_NUM(ev, nvidia_dev_xid, error_code);
	f->action = action;
	ks_printable(f->dev, sizeof(f->dev), KS_STR(ev, nvidia_dev_xid, dev));
	ks_printable(f->text, sizeof(f->text), KS_STR(ev, nvidia_dev_xid, msg));
}

void ks_on_xid(struct ks_engine *e, const struct ks_event *ev)
{
	note(e, ev, "Xid", ks_xid_action(KS_NUM(ev, nvidia_dev_xid, error_code)));
}

/* Its text says whether it is fatal. */
void ks_on_sxid(struct ks_engine *e, const struct ks_event *ev)
{
	note(e, ev, "SXid", "");
}

const struct ks_fault *ks_faults_next(const struct ks_engine *e, const struct ks_fault *after, u64 begin, u64 end)
{
	size_t i = after ? after - e->faults + 1 : 0;

	for (; i < e->nr_faults && i < MAX_FAULTS; i++) {
		if (e->faults[i].ts >= begin && e->faults[i].ts <= end)
			return &e->faults[i];
	}
	return NULL;
}

char *ks_fault_text(char *buf, const struct ks_fault *f)
{
	return ks_fmt(buf, KS_TEXT, "%s %u of %s%s%s: %s", f->kind, f->code, f->dev, *f->action ? ", NVIDIA's advice: " : "",
		      f->action, f->text);
}
