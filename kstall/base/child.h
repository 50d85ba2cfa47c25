/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_CHILD_H
#define KSTALL_CHILD_H

/*
 * Calls @fn in a child and returns what it returns: a library that reads the file @name may
 * crash on a damaged one, and that is an error of the file.
 */
int ks_in_child(const char *name, int (*fn)(void *), void *arg);

#endif
