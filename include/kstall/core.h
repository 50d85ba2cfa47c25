/* SPDX-License-Identifier: GPL-2.0 */
/* core.h - all of kstall's helpers; what a module's main file includes after KSTALL_MAIN */
#ifndef _KSTALL_CORE_H
#define _KSTALL_CORE_H

#include <kstall/kstall.h>
#include <kstall/hook.h>
#include <kstall/inflight.h>
#include <kstall/own.h>
#include <kstall/fold.h>
#include <kstall/event.h>
#include <kstall/identity.h>
#include <kstall/impl/recorder.c>
#include <kstall/impl/status.c>

#endif /* _KSTALL_CORE_H */
