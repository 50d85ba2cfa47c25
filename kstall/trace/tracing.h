/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_TRACING_H
#define KSTALL_TRACING_H

/* Ends the program, with the reason, unless tracefs is there for this user. */
void ks_need_tracing(void);

#endif
