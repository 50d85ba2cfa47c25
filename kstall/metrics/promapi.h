/* SPDX-License-Identifier: GPL-2.0 */
/* Questions to a Prometheus, and its answers. */
#ifndef KSTALL_PROMAPI_H
#define KSTALL_PROMAPI_H

#include <stddef.h>

struct ks_prom;
struct ks_answer;

struct ks_prom *ks_prom_open(const char *url);
void ks_prom_close(struct ks_prom *p);

/* An instant query that answers with a vector; what goes wrong ends the program with one line. */
struct ks_answer *ks_prom_ask(struct ks_prom *p, const char *query);
void ks_answer_free(struct ks_answer *a);

size_t ks_answer_size(const struct ks_answer *a);
/* The label's value, "" if the series has none. */
const char *ks_answer_label(const struct ks_answer *a, size_t i, const char *label);
double ks_answer_value(const struct ks_answer *a, size_t i);

#endif
