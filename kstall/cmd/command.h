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

#endif
