/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_PORTS_H
#define KSTALL_PORTS_H

#include "trace/session.h"

/* The ports that there are now; they are noted. */
void ks_ports_find(struct ks_session *s);

/* Notes what has been counted, if the last look is a second old, or now if it is the @last. */
void ks_ports_look(struct ks_session *s, bool last);
void ks_ports_end(struct ks_session *s);

#endif
