/* SPDX-License-Identifier: GPL-2.0 */
/* A file that appears when it is whole. */
#ifndef KSTALL_OUTPUT_H
#define KSTALL_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

/*
 * One at a time. A file of that name stays what it is until ks_output_close(); if the program ends before, nothing is left. A
 * device or a pipe is written in place. A link is followed if root or the user has made it. What is wrong ends the program with
 * one line.
 */
FILE *ks_output_open(const char *name, mode_t mode);
void ks_output_close(FILE *f, const char *name);

/* Beside the file, so that there is room; it has no name, so nothing stays. -1: see errno. */
int ks_output_temporary(void);

#endif
