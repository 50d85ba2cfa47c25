/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_COMMAND_H
#define KSTALL_COMMAND_H

int ks_cmd_why(int argc, char **argv);
int ks_cmd_record(int argc, char **argv);
int ks_cmd_diff(int argc, char **argv);
int ks_cmd_timeline(int argc, char **argv);
int ks_cmd_recorder(int argc, char **argv);
int ks_cmd_metrics(int argc, char **argv);
int ks_cmd_top(int argc, char **argv);

/*
 * Calls @fn in a child and returns what it returns: a library that reads the file @name may
 * crash on a damaged one, and that is an error of the file.
 */
int ks_in_child(const char *name, int (*fn)(void *), void *arg);

#endif
