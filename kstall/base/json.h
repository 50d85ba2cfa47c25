/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KSTALL_JSON_H
#define KSTALL_JSON_H

#include <stdio.h>

/* @s as a JSON string, in quotes: UTF-8. A control becomes \u00XX, a byte that is not UTF-8 U+FFFD. */
void ks_json_string(FILE *out, const char *s);

#endif
