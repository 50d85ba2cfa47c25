/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_JSON_H
#define KSTALL_JSON_H

#include <stdio.h>

/* @s as a JSON string, in quotes. Bytes that are not printable ASCII become \u00XX. */
void ks_json_string(FILE *out, const char *s);

#endif
